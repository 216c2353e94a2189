package line

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"chaperone/backend/action"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/wire"
)

type helloArgs struct {
	Agent    ids.Agent `json:"agent,omitempty" jsonschema:"the agent's name: 1 to 64 letters, digits and . _ -; absent: a fresh agent"`
	Protocol *int      `json:"protocol,omitempty" jsonschema:"the protocol version that the caller speaks"`
}

type helloResult struct {
	Protocol int         `json:"protocol" jsonschema:"the protocol version of this host"`
	Agent    ids.Agent   `json:"agent" jsonschema:"the agent's name, to come back as the same"`
	Session  ids.Session `json:"session" jsonschema:"the agent's browser window, across restarts"`
	Version  string      `json:"version" jsonschema:"the host's version"`
}

type nothing struct{}

type cancelArgs struct {
	ID json.RawMessage `json:"id" jsonschema:"the id of the call to cancel"`
}

type cancelResult struct {
	Cancelled bool `json:"cancelled" jsonschema:"false when no such call is under way"`
}

type subscribeArgs struct {
	After  *int64 `json:"after,omitempty" jsonschema:"give events after this place in the log; absent: from now on"`
	Prefix string `json:"prefix,omitempty" jsonschema:"only events of this category or below it"`
}

type subscribeResult struct {
	After int64 `json:"after" jsonschema:"events after this place follow"`
}

type methodsResult struct {
	Protocol int      `json:"protocol"`
	Methods  []method `json:"methods"`
}

// method is a spec as agents see it.
type method struct {
	Method  string        `json:"method"`
	Verb    string        `json:"verb" jsonschema:"its name on the command line and in MCP"`
	Summary string        `json:"summary"`
	Effect  action.Effect `json:"effect" jsonschema:"what it may change"`
	// Args and Result are *jsonschema.Schema, which has no schema of its own.
	Args   any `json:"args" jsonschema:"JSON Schema of the arguments"`
	Result any `json:"result,omitempty" jsonschema:"JSON Schema of the result, where it was asked for"`
}

type methodsArgs struct {
	// Results are four fifths of the whole, and a model pays for each letter.
	Results bool `json:"results,omitempty" jsonschema:"true for the schemas of the results too"`
}

func own[A, R any](name, summary string) *action.Spec {
	return action.Describe[A, R](action.Spec{
		Method: name, Verb: name, Summary: summary,
		Audience: action.Agents, Capability: "line", Effect: action.Reads, Tab: action.NoTab,
	})
}

// Methods describes what the door answers itself; all else is in the catalogue.
func Methods() []*action.Spec { return methods() }

var methods = sync.OnceValue(func() []*action.Spec {
	return []*action.Spec{
		own[helloArgs, helloResult](wire.MethodHello, "Say who you are; once, before anything that needs an agent."),
		own[nothing, nothing](wire.MethodPing, "Answer at once."),
		own[cancelArgs, cancelResult](wire.MethodCancel, "Take a call back that is under way."),
		own[methodsArgs, methodsResult](wire.MethodMethods, "List all methods with their arguments."),
		own[subscribeArgs, subscribeResult](wire.MethodSubscribe, "Get what happens to you as {\"event\":…} lines; once."),
		own[nothing, Status](wire.MethodStatus, "Say what host this is."),
		own[nothing, nothing](wire.MethodBye, "Say that nothing more comes; answered last, when all calls have ended."),
	}
})

// specOf returns the door's own method of that name, nil if there is none.
func specOf(name string) *action.Spec {
	for _, s := range methods() {
		if s.Method == name {
			return s
		}
	}
	return nil
}

// agentName begins with a letter or digit, because it names a directory too.
var agentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func checkHello(a helloArgs) error {
	if a.Protocol != nil && *a.Protocol != wire.Protocol {
		return fault.New(fault.UnsupportedProtocol, "this host speaks protocol %d, not %d", wire.Protocol, *a.Protocol).
			WithHint(fmt.Sprintf(`Say {"protocol":%d}, or leave it out.`, wire.Protocol))
	}
	if a.Agent != "" && !agentName.MatchString(string(a.Agent)) {
		return fault.New(fault.InvalidArguments, "hello: agent is not a name that can be used").
			WithHint("A name has 1 to 64 letters, digits and . _ -, and begins with a letter or digit.")
	}
	return nil
}

// withOwn adds the door's own methods to the hint of an unknown one.
func withOwn(err error) error {
	e := fault.From(err)
	if e.Code != fault.UnknownMethod {
		return err
	}
	var names []string
	for _, s := range methods() {
		names = append(names, s.Method)
	}
	return e.WithHint(strings.TrimSuffix(e.Hint, ".") + "; and of the line itself: " + strings.Join(names, ", ") + ".")
}
