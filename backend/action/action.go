// Package action says what an action is, and carries out calls of them.
//
// A Spec is static: schemas, documents and the typed client of the user
// interface are made from it without a running service. A Bound action is a
// Spec with the code that performs it. Only a Dispatcher can run one, and it
// always leads the call along the same path, so nothing can go around the
// stations that record, admit, decide and hold:
//
//	Begin (place in line) → record → validate → admit → decide → hold → run
//
// The package must not know what any action does.
package action

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"chaperone/backend/fault"
	"chaperone/backend/ids"

	"github.com/google/jsonschema-go/jsonschema"
)

// Effect says what an action may change. There is no default: the zero value is refused.
type Effect string

// The effects, least first.
const (
	// Reads changes nothing.
	Reads Effect = "reads"
	// Transient changes what passes with the page: focus, hover, scroll position.
	Transient Effect = "transient"
	// Mutates changes the page or the window.
	Mutates Effect = "mutates"
	// Irreversible changes what cannot be taken back.
	Irreversible Effect = "irreversible"
)

// TabScope says what an action does with tabs, and so what it waits for.
type TabScope string

// The tab scopes.
const (
	// NoTab has nothing to do with tabs and waits for nothing.
	NoTab TabScope = "none"
	// OneTab works on the tab that its tabId names, or on the selected one.
	OneTab TabScope = "one"
	// Lifecycle opens, closes or selects tabs: a barrier for its whole window.
	Lifecycle TabScope = "lifecycle"
)

// Audience says who may be offered an action.
type Audience string

// The audiences.
const (
	Agents Audience = "agents"
	People Audience = "people"
	Anyone Audience = "anyone"
)

// DefaultBudget bounds the run of an action that names no other bound. The time
// in which a person thinks does not count.
const DefaultBudget = 45 * time.Second

// Spec is all there is to say about an action but its code.
type Spec struct {
	// Method is the name on the wire ("click_element"); Verb the one of the command line and MCP ("click").
	Method, Verb string
	// Summary is one sentence for whoever chooses among actions.
	Summary    string
	Audience   Audience
	Capability string
	Effect     Effect
	Tab        TabScope
	// Budget bounds the run; zero means DefaultBudget.
	Budget time.Duration
	// Destination returns the address that the call means to open at the top
	// level, "" if none. Nil when the action never names one.
	Destination func(args json.RawMessage) string

	Args, Result *jsonschema.Schema
	// ArgsType and ResultType are what the schemas were made from; they keep the
	// names of types, which schemas do not.
	ArgsType, ResultType reflect.Type
}

// Describe completes s with the schemas of its argument and result types. It
// panics on an incomplete declaration: declarations are made at start-up, and
// a test makes them all.
func Describe[A, R any](s Spec) *Spec {
	if s.Method == "" || s.Verb == "" || s.Summary == "" || s.Audience == "" || s.Capability == "" || s.Effect == "" || s.Tab == "" {
		panic(fmt.Sprintf("action: incomplete spec %+v", s))
	}
	if s.Budget == 0 {
		s.Budget = DefaultBudget
	}
	s.Args, s.Result = schemaOf[A](), schemaOf[R]()
	s.ArgsType, s.ResultType = reflect.TypeFor[A](), reflect.TypeFor[R]()
	never(s.Result)
	return &s
}

// Actor is who asks. The door sets it; a message never does.
type Actor struct {
	// Person is true for the person in the window, and then Agent is empty.
	Person bool
	Agent  ids.Agent
	// Line tells apart the connections of one agent.
	Line string
}

// A Call is one request for an action, on its way along the path.
type Call struct {
	ID    ids.Call
	Spec  *Spec
	Actor Actor
	Args  json.RawMessage
	// Tab is the tab that the call works on: the one that it names, or the one
	// that was selected when it arrived; 0 when there was none.
	Tab ids.Tab
	// Turn is the call's place in line; nil for an action that works on no tab.
	Turn *Turn
	// Budget is the call's time; its clock starts when the call runs.
	Budget *Budget
	// Began is when the call arrived.
	Began time.Time

	// ran is set when the last station is behind it: from then on the page may have felt it.
	ran bool
}

// A Runner performs a call. A Middleware wraps one.
type (
	Runner     func(ctx context.Context, c *Call) (any, error)
	Middleware func(Runner) Runner
)

// Bound is an action that can be run, by a Dispatcher only.
type Bound struct {
	Spec *Spec
	args *jsonschema.Resolved
	// fits reports why args do not go into the argument struct: a number can be too large.
	fits func(args json.RawMessage) error
	run  Runner
}

// Bind joins a spec and the code that performs it.
func Bind[A, R any](s *Spec, run func(ctx context.Context, c *Call, args A) (R, error)) Bound {
	resolved, err := s.Args.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("action: %s: %v", s.Method, err))
	}
	fits := func(raw json.RawMessage) error { return json.Unmarshal(raw, new(A)) }
	return Bound{Spec: s, args: resolved, fits: fits, run: func(ctx context.Context, c *Call) (any, error) {
		var args A
		if err := json.Unmarshal(c.Args, &args); err != nil {
			return nil, invalid(s, err)
		}
		return run(ctx, c, args)
	}}
}

// Path names the stations that every call passes, in this order. All are
// required: a missing station is a hole, not an option.
type Path struct {
	// Line gives the lanes of an agent's window, in which a call takes its place on arrival.
	Line func(ids.Agent) *Lanes
	// Record writes down that it was asked, before anything happens, and what came of it.
	Record Middleware
	// Admit asks whether this actor may act at all now.
	Admit Middleware
	// Decide asks whether the policy allows it.
	Decide Middleware
	// Hold waits for the call's turn and asks whether the answer still holds now.
	Hold Middleware
}

// Dispatcher is the one way to run an action.
type Dispatcher struct {
	byMethod map[string]Bound
	path     Path
	now      func() time.Time
}

// NewDispatcher returns a dispatcher of the given actions. It panics when an
// action is declared twice or a station is missing.
func NewDispatcher(all []Bound, path Path, now func() time.Time) *Dispatcher {
	if path.Line == nil || path.Record == nil || path.Admit == nil || path.Decide == nil || path.Hold == nil {
		panic("action: a station of the path is missing")
	}
	d := &Dispatcher{byMethod: make(map[string]Bound, len(all)), path: path, now: now}
	for _, b := range all {
		if _, twice := d.byMethod[b.Spec.Method]; twice {
			panic("action: declared twice: " + b.Spec.Method)
		}
		d.byMethod[b.Spec.Method] = b
	}
	return d
}

// Offered returns the actions that actor may ask for, by method name.
func (d *Dispatcher) Offered(by Actor) []*Spec {
	var out []*Spec
	for _, b := range d.byMethod {
		if offered(b.Spec, by) {
			out = append(out, b.Spec)
		}
	}
	slices.SortFunc(out, func(a, b *Spec) int { return strings.Compare(a.Method, b.Method) })
	return out
}

func offered(s *Spec, by Actor) bool {
	return s.Audience == Anyone || (s.Audience == People) == by.Person
}

// A Begun call has its place in line and waits to be done. Do must be called
// exactly once, or the place is never freed.
type Begun struct {
	call *Call
	run  Runner
}

// Call returns the call.
func (b *Begun) Call() *Call { return b.call }

// Begin looks the action up and takes the call's place in line. It does not
// block, so that a door which calls it for each line as it is read keeps the
// order of arrival. A method that is not the actor's to use is no method at all.
func (d *Dispatcher) Begin(by Actor, method string, args json.RawMessage) (*Begun, error) {
	b, ok := d.byMethod[method]
	if !ok || !offered(b.Spec, by) {
		return nil, fault.New(fault.UnknownMethod, "there is no method %q", clip(method, 64)).
			WithHint(d.nearest(by, method))
	}
	args = orEmpty(args)
	c := &Call{ID: ids.NewCall(), Spec: b.Spec, Actor: by, Args: args, Began: d.now()}
	if b.Spec.Tab != NoTab && !by.Person {
		var named struct {
			TabID ids.Tab `json:"tabId"`
		}
		// What does not fit the schema is refused by validate, with its own words.
		_ = json.Unmarshal(args, &named)
		c.Turn = d.path.Line(by.Agent).Join(b.Spec, named.TabID)
		c.Tab = c.Turn.Tab()
	}
	c.Budget = NewBudget(b.Spec.Budget)
	if c.Turn != nil {
		c.Turn.attach(c.Budget)
	}
	run := b.run
	for _, station := range slices.Backward([]Middleware{d.path.Record, settle, b.validate, d.path.Admit, d.path.Decide, d.path.Hold, spend}) {
		run = station(run)
	}
	return &Begun{call: c, run: run}, nil
}

// settle makes an error of whatever ended the call before it ran: a panic, or
// the end of its context, by which then nothing has reached the page. It stands
// within Record, so that the record has what the caller is told.
func settle(next Runner) Runner {
	return func(ctx context.Context, c *Call) (out any, err error) {
		defer caught(&out, &err)
		out, err = next(ctx, c)
		if c.ran {
			return out, err
		}
		return out, ended(ctx, err, fault.EffectNone)
	}
}

// spend starts the clock of the call's budget around its run.
func spend(next Runner) Runner {
	return func(ctx context.Context, c *Call) (any, error) {
		ctx, stop := c.Budget.Start(ctx)
		defer stop()
		c.ran = true
		effect := fault.EffectUnknown
		if c.Spec.Effect == Reads {
			effect = fault.EffectNone
		}
		out, err := next(ctx, c)
		return out, ended(ctx, err, effect)
	}
}

// ended replaces "the context ended" by why it did, with the given effect where
// the cause knows none. An error that says more of its own stays.
func ended(ctx context.Context, err error, effect fault.Effect) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	cause, ok := errors.AsType[*fault.Error](context.Cause(ctx))
	if !ok {
		cause = fault.From(ctx.Err()).WithEffect("")
	}
	if e, ok := errors.AsType[*fault.Error](err); ok && e != cause && !isEnd(e) {
		return err
	}
	if cause.Effect == "" {
		cause = cause.WithEffect(effect)
	}
	return cause.Because(err)
}

// isEnd reports whether e says no more than "the context ended", or nothing at all.
func isEnd(e *fault.Error) bool {
	switch e.Code {
	case fault.Internal:
		return !errors.Is(e, errPanic)
	case fault.Cancelled, fault.BrowserTimeout:
		return errors.Is(e, context.Canceled) || errors.Is(e, context.DeadlineExceeded)
	}
	return false
}

var errPanic = errors.New("panic")

// caught makes a panic the error of its call. The value of the panic is left out
// unless the runtime made it: it may hold what a page contains.
func caught(out *any, err *error) {
	p := recover()
	if p == nil {
		return
	}
	what := fmt.Sprintf("a %T", p)
	if e, ok := p.(runtime.Error); ok {
		what = e.Error()
	}
	*out = nil
	*err = fault.From(fmt.Errorf("%w: %s\n%s", errPanic, what, debug.Stack())).WithEffect(fault.EffectUnknown)
}

// Do leads the call along the path and leaves its place in line. A panic on the
// way is the end of this call only.
func (b *Begun) Do(ctx context.Context) (out any, err error) {
	if b.call.Turn != nil {
		defer b.call.Turn.Leave()
	}
	defer caught(&out, &err)
	return b.run(ctx, b.call)
}

// nearest says what could have been meant.
func (d *Dispatcher) nearest(by Actor, method string) string {
	best, dist := "", 4
	var names []string
	for _, s := range d.Offered(by) {
		names = append(names, s.Method)
		if n := distance(s.Method, method); n < dist {
			best, dist = s.Method, n
		}
	}
	if best != "" {
		return fmt.Sprintf("Did you mean %q? Accepted: %s.", best, strings.Join(names, ", "))
	}
	return fmt.Sprintf("Accepted: %s.", strings.Join(names, ", "))
}

// distance is the Levenshtein distance of two short words.
func distance(a, b string) int {
	if len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost++
			}
			prev = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func (b Bound) validate(next Runner) Runner {
	return func(ctx context.Context, c *Call) (any, error) {
		if err := check(c.Spec, b.args, c.Args); err != nil {
			return nil, err
		}
		if err := b.fits(c.Args); err != nil {
			return nil, invalid(c.Spec, err)
		}
		return next(ctx, c)
	}
}

func check(s *Spec, schema *jsonschema.Resolved, args json.RawMessage) error {
	var v map[string]any
	if err := json.Unmarshal(args, &v); err != nil {
		return invalid(s, errors.New("args is not a JSON object"))
	}
	if err := schema.Validate(v); err != nil {
		return invalid(s, err)
	}
	return nil
}

// Decode reads the arguments of s as the path does, for the few methods that a
// door answers itself. Its errors are fault.InvalidArguments.
func Decode[A any](s *Spec, args json.RawMessage) (A, error) {
	var a A
	schema, err := s.Args.Resolve(nil)
	if err != nil {
		return a, fmt.Errorf("schema of %s: %w", s.Method, err)
	}
	args = orEmpty(args)
	if err := check(s, schema, args); err != nil {
		return a, err
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return a, invalid(s, err)
	}
	return a, nil
}

// orEmpty returns the object that absent arguments stand for.
func orEmpty(args json.RawMessage) json.RawMessage {
	if trimmed := bytes.TrimSpace(args); len(trimmed) == 0 || bytes.Equal(trimmed, []byte("null")) {
		return json.RawMessage("{}")
	}
	return args
}

func invalid(s *Spec, err error) error {
	return fault.New(fault.InvalidArguments, "%s: %s", s.Method, plain(err)).
		WithHint(fmt.Sprintf("Accepted arguments: %s.", Accepts(s)))
}

// clip bounds what is repeated of a caller's own words.
func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// plain cuts the schema library's path out of its message.
func plain(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s: %s does not fit", e.Field, clip(e.Value, 40))
	}
	msg := clip(strings.Replace(err.Error(), "unexpected additional properties", "there is no argument", 1), 400)
	if i := strings.LastIndex(msg, ": "); i >= 0 && strings.HasPrefix(msg, "validating") {
		if j := strings.Index(msg, "validating /properties/"); j >= 0 {
			field, _, _ := strings.Cut(msg[j+len("validating /properties/"):], ":")
			return field + ": " + msg[i+2:]
		}
		return msg[i+2:]
	}
	return msg
}

// Accepts names the arguments of s in a line: "url (required), tabId".
func Accepts(s *Spec) string {
	var parts []string
	for _, name := range s.Args.PropertyOrder {
		if slices.Contains(s.Args.Required, name) {
			name += " (required)"
		}
		parts = append(parts, name)
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// Enum is implemented by string types that have a closed set of values.
type Enum interface{ Values() []string }

func schemaOf[T any]() *jsonschema.Schema {
	types := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
	}
	collect(reflect.TypeFor[T](), types, map[reflect.Type]bool{})
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		panic(fmt.Sprintf("action: schema of %v: %v", reflect.TypeFor[T](), err))
	}
	return s
}

// never takes null out of what a result can hold: what there is not is left out
// of it, and a list of nothing is an empty list.
func never(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	never(s.Items)
	for _, p := range s.Properties {
		never(p)
	}
}

// collect finds the enumerations in t, so that the schema lists their values.
func collect(t reflect.Type, into map[reflect.Type]*jsonschema.Schema, seen map[reflect.Type]bool) {
	if seen[t] || into[t] != nil {
		return
	}
	seen[t] = true
	if t.Kind() == reflect.String {
		if e, ok := reflect.Zero(t).Interface().(Enum); ok {
			s := &jsonschema.Schema{Type: "string"}
			for _, v := range e.Values() {
				s.Enum = append(s.Enum, v)
			}
			into[t] = s
		}
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			collect(t.Field(i).Type, into, seen)
		}
	case reflect.Slice, reflect.Pointer, reflect.Map, reflect.Array:
		collect(t.Elem(), into, seen)
	}
}
