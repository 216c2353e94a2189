package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chaperone/backend/fault"
	"chaperone/backend/ids"
)

type clickArgs struct {
	Index int    `json:"index" jsonschema:"the element"`
	Kind  button `json:"kind,omitempty" jsonschema:"which button"`
	TabID int    `json:"tabId,omitempty" jsonschema:"the tab"`
}

type button string

func (button) Values() []string { return []string{"left", "right"} }

type none struct{}

func spec(method string, who Audience, effect Effect, tab TabScope) Spec {
	return Spec{Method: method, Verb: method, Summary: "Does " + method + ".", Audience: who, Capability: "test", Effect: effect, Tab: tab}
}

// A trail is what a call passed, in order.
type trail struct {
	mu    sync.Mutex
	steps []string
}

func (t *trail) add(step string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps = append(t.steps, step)
}

func (t *trail) station(name string) Middleware {
	return func(next Runner) Runner {
		return func(ctx context.Context, c *Call) (any, error) {
			t.add(name)
			out, err := next(ctx, c)
			t.add(name + " back")
			return out, err
		}
	}
}

// path is a path whose hold waits for the call's turn, as the host's does.
func (t *trail) path(l *Lanes) Path {
	return Path{
		Line: func(ids.Agent) *Lanes { return l }, Record: t.station("record"), Admit: t.station("admit"), Decide: t.station("decide"),
		Hold: func(next Runner) Runner {
			return t.station("hold")(func(ctx context.Context, c *Call) (any, error) {
				if c.Turn != nil {
					if err := c.Turn.Wait(ctx); err != nil {
						return nil, err
					}
				}
				return next(ctx, c)
			})
		},
	}
}

func lanes(selected ids.Tab) *Lanes { return NewLanes(func() ids.Tab { return selected }) }

var agent = Actor{Agent: "a", Line: "1"}

func do(t *testing.T, d *Dispatcher, by Actor, method, args string) (any, error) {
	t.Helper()
	b, err := d.Begin(by, method, json.RawMessage(args))
	if err != nil {
		return nil, err
	}
	return b.Do(t.Context())
}

func TestPathIsWalkedInOrder(t *testing.T) {
	var seen trail
	click := Bind(Describe[clickArgs, string](spec("click_element", Agents, Mutates, OneTab)),
		func(_ context.Context, c *Call, a clickArgs) (string, error) {
			seen.add(fmt.Sprintf("run %d on %d", a.Index, c.Tab))
			return "done", nil
		})
	d := NewDispatcher([]Bound{click}, seen.path(lanes(3)), time.Now)
	out, err := do(t, d, agent, "click_element", `{"index":7}`)
	if out != "done" || err != nil {
		t.Fatalf("got %v, %v", out, err)
	}
	want := "record admit decide hold run 7 on 3 hold back decide back admit back record back"
	if got := strings.Join(seen.steps, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEachStationIsNeeded(t *testing.T) {
	var seen trail
	whole := seen.path(lanes(1))
	for name, drop := range map[string]func(*Path){
		"line": func(p *Path) { p.Line = nil }, "record": func(p *Path) { p.Record = nil }, "admit": func(p *Path) { p.Admit = nil },
		"decide": func(p *Path) { p.Decide = nil }, "hold": func(p *Path) { p.Hold = nil },
	} {
		holed := whole
		drop(&holed)
		if !panics(func() { NewDispatcher(nil, holed, time.Now) }) {
			t.Errorf("a path without %s was taken", name)
		}
	}
	b := Bind(Describe[none, none](spec("ping", Anyone, Reads, NoTab)), func(context.Context, *Call, none) (none, error) { return none{}, nil })
	if !panics(func() { NewDispatcher([]Bound{b, b}, whole, time.Now) }) {
		t.Error("an action that was declared twice was taken")
	}
	incomplete := spec("ping", Anyone, Reads, NoTab)
	incomplete.Effect = ""
	if !panics(func() { Describe[none, none](incomplete) }) {
		t.Error("a spec without an effect was taken")
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

func TestWrongCallsSayWhatIsAccepted(t *testing.T) {
	var seen trail
	noop := func(context.Context, *Call, clickArgs) (string, error) { return "", nil }
	d := NewDispatcher([]Bound{
		Bind(Describe[clickArgs, string](spec("click_element", Agents, Mutates, NoTab)), noop),
		Bind(Describe[clickArgs, string](spec("answer_question", People, Mutates, NoTab)), noop),
		Bind(Describe[clickArgs, string](spec("ping", Anyone, Reads, NoTab)), noop),
	}, seen.path(lanes(1)), time.Now)
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		by           Actor
		method, args string
		code         fault.Code
		message      string
		hint         string
	}{
		{agent, "clik_element", `{}`, fault.UnknownMethod, `"clik_element"`, `Did you mean "click_element"? Accepted: click_element, ping.`},
		{agent, "answer_question", `{"index":1}`, fault.UnknownMethod, `"answer_question"`, `Accepted: click_element, ping.`},
		{Actor{Person: true}, "click_element", `{"index":1}`, fault.UnknownMethod, `"click_element"`, `Accepted: answer_question, ping.`},
		{agent, long, `{}`, fault.UnknownMethod, `xxx…"`, `Accepted: click_element, ping.`},
		{agent, "click_element", ``, fault.InvalidArguments, "index", "Accepted arguments: index (required), kind, tabId."},
		{agent, "click_element", `null`, fault.InvalidArguments, "index", "Accepted arguments: index (required), kind, tabId."},
		{agent, "click_element", `{"index":"7"}`, fault.InvalidArguments, `click_element: index: 7 has type "string", want "integer"`, "index (required)"},
		{agent, "click_element", `{"index":1,"person":true}`, fault.InvalidArguments, `click_element: there is no argument ["person"]`, "index (required)"},
		{agent, "click_element", `{"index":1,"kind":"middle"}`, fault.InvalidArguments, "kind: ", "index (required)"},
		{agent, "click_element", `{"index":1,"kind":"` + long + `"}`, fault.InvalidArguments, "kind: ", "index (required)"},
		{agent, "click_element", `{"index":"a: b"}`, fault.InvalidArguments, "index: ", "index (required)"},
		{agent, "click_element", `{"index":99999999999999999999}`, fault.InvalidArguments, "click_element: index: number 99999999999999999999 does not fit", "index (required)"},
	} {
		out, err := do(t, d, c.by, c.method, c.args)
		e := fault.From(err)
		if e == nil || e.Code != c.code || !strings.Contains(e.Message, c.message) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%.40s %.60s: got %v, %+v", c.method, c.args, out, e)
			continue
		}
		if len(e.Message) > 600 {
			t.Errorf("%.40s: the message repeats %d bytes", c.method, len(e.Message))
		}
	}
	if got := d.Offered(agent); len(got) != 2 || got[0].Method != "click_element" || got[1].Method != "ping" {
		t.Errorf("agents are offered %v", got)
	}
	if slices.ContainsFunc(seen.steps, func(s string) bool { return s == "admit" }) {
		t.Error("a call with wrong arguments went past validate")
	}
}

// run makes a dispatcher with one action and begins a call of it.
func run(t *testing.T, p Path, effect Effect, f func(ctx context.Context, c *Call) error) *Begun {
	t.Helper()
	act := Bind(Describe[none, none](spec("act", Agents, effect, NoTab)), func(ctx context.Context, c *Call, _ none) (none, error) {
		return none{}, f(ctx, c)
	})
	b, err := NewDispatcher([]Bound{act}, p, time.Now).Begin(agent, "act", nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCancelledCallSaysWhetherThePageFeltIt(t *testing.T) {
	cancelled := fault.New(fault.Cancelled, "the call was cancelled")
	until := func(ctx context.Context, _ *Call) error { <-ctx.Done(); return ctx.Err() }
	for _, c := range []struct {
		name   string
		effect Effect
		before bool // cancelled while the person is asked
		run    func(context.Context, *Call) error
		code   fault.Code
		want   fault.Effect
	}{
		{"a click that runs", Mutates, false, until, fault.Cancelled, fault.EffectUnknown},
		{"a read that runs", Reads, false, until, fault.Cancelled, fault.EffectNone},
		{"a click that waits for the person", Mutates, true, until, fault.Cancelled, fault.EffectNone},
		{"a page that knows better", Mutates, false, func(ctx context.Context, _ *Call) error {
			<-ctx.Done()
			return fault.New(fault.Cancelled, "cancelled after the click").WithEffect(fault.EffectCommitted)
		}, fault.Cancelled, fault.EffectCommitted},
		{"a loss at the same time", Mutates, false, func(ctx context.Context, _ *Call) error {
			<-ctx.Done()
			return fault.New(fault.BrowserGone, "gone: %w", ctx.Err())
		}, fault.BrowserGone, ""},
		{"an unknown error", Mutates, false, func(ctx context.Context, _ *Call) error { <-ctx.Done(); return errors.New("write failed") },
			fault.Cancelled, fault.EffectUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			var seen trail
			p := seen.path(lanes(1))
			reached := make(chan struct{})
			stop := func(next Runner) Runner {
				return func(ctx context.Context, call *Call) (any, error) {
					close(reached)
					if c.before {
						<-ctx.Done()
						return nil, context.Cause(ctx)
					}
					return next(ctx, call)
				}
			}
			var recorded error
			p.Record = func(next Runner) Runner {
				return func(ctx context.Context, call *Call) (any, error) {
					out, err := next(ctx, call)
					recorded = err
					return out, err
				}
			}
			p.Decide = stop
			b := run(t, p, c.effect, c.run)
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() { <-reached; cancel(cancelled) }()
			_, err := b.Do(ctx)
			e := fault.From(err)
			if e.Code != c.code || e.Effect != c.want {
				t.Errorf("got %v with effect %q, want %s with %q", e, e.Effect, c.code, c.want)
			}
			if fault.From(recorded) != e {
				t.Errorf("the record has %v, the caller %v", recorded, err)
			}
		})
	}
}

func TestPanicEndsItsCallOnly(t *testing.T) {
	var seen trail
	l := lanes(1)
	boom := Bind(Describe[none, none](spec("boom", Agents, Mutates, OneTab)), func(context.Context, *Call, none) (none, error) {
		panic("the password is hunter2")
	})
	d := NewDispatcher([]Bound{boom}, seen.path(l), time.Now)
	_, err := do(t, d, agent, "boom", "")
	if e := fault.From(err); e.Code != fault.Internal || e.Effect != fault.EffectUnknown {
		t.Errorf("got %+v", e)
	}
	if cause := errors.Unwrap(err); cause == nil || !strings.Contains(cause.Error(), "action_test.go") || strings.Contains(cause.Error(), "hunter2") {
		t.Errorf("the cause should have the stack and not the value: %v", cause)
	}
	if l.Waiting() != 0 {
		t.Error("the call kept its place in line")
	}

	p := seen.path(l)
	p.Record = func(Runner) Runner {
		return func(context.Context, *Call) (any, error) { var none []int; return none[len(none)-1], nil }
	}
	_, err = run(t, p, Reads, func(context.Context, *Call) error { return nil }).Do(t.Context())
	if !fault.Is(err, fault.Internal) || !strings.Contains(fmt.Sprint(errors.Unwrap(err)), "index out of range") {
		t.Errorf("a panic of the record: got %v", err)
	}
}

func TestBudget(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(b *Budget)
		want time.Duration
	}{
		{"runs out", func(*Budget) {}, 10 * time.Second},
		{"stands still while a person thinks", func(b *Budget) {
			time.Sleep(4 * time.Second)
			b.Pause()
			time.Sleep(time.Hour)
			b.Resume()
		}, time.Hour + 10*time.Second},
		{"two who think", func(b *Budget) {
			b.Pause()
			b.Pause()
			time.Sleep(time.Minute)
			b.Resume()
			time.Sleep(time.Minute)
			b.Resume()
		}, 2*time.Minute + 10*time.Second},
		{"a resume that comes before its pause", func(b *Budget) { b.Resume(); b.Pause(); time.Sleep(time.Second) }, 10 * time.Second},
		{"is cut", func(b *Budget) { time.Sleep(4 * time.Second); b.Limit(time.Second) }, 5 * time.Second},
		{"is not lengthened", func(b *Budget) { time.Sleep(4 * time.Second); b.Limit(time.Hour) }, 10 * time.Second},
		{"is cut while a person thinks", func(b *Budget) {
			b.Pause()
			b.Limit(time.Second)
			time.Sleep(time.Minute)
			b.Resume()
		}, time.Minute + time.Second},
		{"does not wait for the person", func(b *Budget) { b.Pause(); time.Sleep(time.Second); b.Steady(); b.Pause() }, 11 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := NewBudget(10 * time.Second)
				began := time.Now()
				ctx, stop := b.Start(t.Context())
				defer stop()
				c.do(b)
				<-ctx.Done()
				if got := time.Since(began); got != c.want {
					t.Errorf("ended after %v, want %v", got, c.want)
				}
				if e := fault.From(context.Cause(ctx)); e.Code != fault.BrowserTimeout {
					t.Errorf("the cause is %v", e)
				}
			})
		})
	}
}

func TestPersonThinksBeforeTheClockStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen trail
		p := seen.path(lanes(1))
		p.Decide = func(next Runner) Runner {
			return func(ctx context.Context, c *Call) (any, error) {
				c.Budget.Pause()
				time.Sleep(time.Hour)
				c.Budget.Resume()
				return next(ctx, c)
			}
		}
		began := time.Now()
		_, err := run(t, p, Mutates, func(ctx context.Context, _ *Call) error { <-ctx.Done(); return ctx.Err() }).Do(t.Context())
		if e := fault.From(err); e.Code != fault.BrowserTimeout || e.Effect != fault.EffectUnknown {
			t.Errorf("got %+v", e)
		}
		if got := time.Since(began); got != time.Hour+DefaultBudget {
			t.Errorf("ended after %v", got)
		}
	})
}
