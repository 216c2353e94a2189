// Package catalog declares every action, each once.
//
// Whatever a door offers, a schema describes, a document lists or the user
// interface calls is a projection of All. An action's handler is a few lines
// that call a service; it decides nothing.
package catalog

import (
	"context"
	"encoding/json"
	"slices"

	"chaperone/backend/action"
	"chaperone/backend/agent"
	"chaperone/backend/approval"
	"chaperone/backend/browser"
	"chaperone/backend/event"
	"chaperone/backend/rules"
)

// Account is the part of the ledger that people look through.
type Account interface {
	Events(ctx context.Context, q event.Query) (events []event.Event, more bool, err error)
	Verify(ctx context.Context) (event.Verification, error)
	Last(ctx context.Context) (int64, error)
	Visits(ctx context.Context, q browser.VisitQuery) (visits []browser.Visit, more bool, err error)
	RemoveVisit(ctx context.Context, id int64, drafts ...event.Draft) (bool, error)
	ClearVisits(ctx context.Context, drafts ...event.Draft) (int, error)
}

// House is what only the host as a whole knows.
type House interface {
	Health(ctx context.Context) Health
	Connect() ConnectInfo
	// Decide settles a question and what follows from the answer.
	Decide(ctx context.Context, a AnswerArgs) (matched bool, err error)
}

// Services is what the actions are performed with.
type Services struct {
	Browser   *browser.Service
	Agents    *agent.Service
	Approvals *approval.Service
	Rules     *rules.Service
	Account   Account
	House     House
}

// An Entry is a declared action, not yet joined with running services.
type Entry struct {
	*action.Spec
	bind func(*Services) action.Bound
}

// All lists every action. It needs no running service.
func All() []Entry { return slices.Concat(reading, acting, tabs, overview, control, choices, account) }

// Bind joins every action with the services that perform it.
func Bind(s *Services) []action.Bound {
	var out []action.Bound
	for _, e := range All() {
		out = append(out, e.bind(s))
	}
	return out
}

// declare makes the entry of one action.
func declare[A, R any](s action.Spec, run func(context.Context, *Services, *action.Call, A) (R, error)) Entry {
	spec := action.Describe[A, R](s)
	return Entry{spec, func(sv *Services) action.Bound {
		return action.Bind(spec, func(ctx context.Context, c *action.Call, args A) (R, error) { return run(ctx, sv, c, args) })
	}}
}

// onPage declares what an agent does to one tab.
func onPage[A any](method, verb, summary string, effect action.Effect,
	run func(context.Context, *Services, *action.Call, A) (browser.Outcome, error)) Entry {
	return declare(action.Spec{Method: method, Verb: verb, Summary: summary, Audience: action.Agents,
		Capability: "page." + verb, Effect: effect, Tab: action.OneTab}, run)
}

// byPerson declares what only the person in the window does.
func byPerson[A, R any](method, verb, summary string, effect action.Effect, run func(context.Context, *Services, A) (R, error)) Entry {
	return declare(action.Spec{Method: method, Verb: verb, Summary: summary, Audience: action.People,
		Capability: "person", Effect: effect, Tab: action.NoTab},
		func(ctx context.Context, s *Services, _ *action.Call, a A) (R, error) { return run(ctx, s, a) })
}

// None is the argument or result of an action that has none.
type None struct{}

// urlOf returns the url argument, for actions that open one.
func urlOf(args json.RawMessage) string {
	var a struct {
		URL string `json:"url"`
	}
	_ = json.Unmarshal(args, &a) // validated before it is looked at
	return a.URL
}
