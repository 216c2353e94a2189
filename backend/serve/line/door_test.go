package line

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/agent"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/wire"
)

// host is what stands behind a door in these tests.
type host struct {
	Door
	log    memoryLog
	bus    event.Bus
	agents agents
	lanes  *action.Lanes
	// people counts calls of an action that only people have.
	people int
	// started says for each call of "work" that it runs; it ends when let is closed or its context is.
	started chan string
	let     chan struct{}
}

type agents struct {
	mu      sync.Mutex
	fresh   int
	present map[ids.Agent]int
	left    []ids.Agent
	refuse  error
}

func (a *agents) Connect(_ context.Context, name ids.Agent) (agent.Connected, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refuse != nil {
		return agent.Connected{}, a.refuse
	}
	if name == "" {
		a.fresh++
		name = ids.Agent(fmt.Sprintf("fresh-%d", a.fresh))
	}
	if a.present == nil {
		a.present = map[ids.Agent]int{}
	}
	a.present[name]++
	return agent.Connected{Agent: name, Session: "sess_" + ids.Session(name), Line: "line-1", Leave: func(ctx context.Context) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if _, bounded := ctx.Deadline(); !bounded || ctx.Err() != nil {
			panic("Leave wants a context that is alive and bounded")
		}
		a.present[name]--
		a.left = append(a.left, name)
	}}, nil
}

func (a *agents) gone() []ids.Agent {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.left)
}

type memoryLog struct {
	mu     sync.Mutex
	events []event.Event
	bus    *event.Bus
}

func (l *memoryLog) Append(_ context.Context, drafts ...event.Draft) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range drafts {
		data, _ := json.Marshal(d.Data)
		l.events = append(l.events, event.Event{Seq: int64(len(l.events) + 1), Category: d.Category, Agent: d.Agent, Data: data})
	}
	l.bus.Ring(int64(len(l.events)))
	return nil
}

func (l *memoryLog) After(_ context.Context, seq int64, limit int) ([]event.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := l.events[min(int(seq), len(l.events)):]
	return slices.Clone(rest[:min(limit, len(rest))]), nil
}

func (l *memoryLog) Last(context.Context) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.events)), nil
}

type workArgs struct {
	Name  string `json:"name,omitempty"`
	Size  int    `json:"size,omitempty"`
	TabID int    `json:"tabId,omitempty"`
}

type workResult struct {
	Name string  `json:"name"`
	By   string  `json:"by"`
	Tab  ids.Tab `json:"tab"`
	More string  `json:"more,omitempty"`
	Line string  `json:"line"`
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{started: make(chan string, 1000), let: make(chan struct{})}
	h.log.bus = &h.bus
	h.lanes = action.NewLanes(func() ids.Tab { return 1 })
	pass := func(next action.Runner) action.Runner { return next }
	path := action.Path{
		Line: func(ids.Agent) *action.Lanes { return h.lanes }, Record: pass, Admit: pass, Decide: pass,
		Hold: func(next action.Runner) action.Runner {
			return func(ctx context.Context, c *action.Call) (any, error) {
				if c.Turn != nil {
					if err := c.Turn.Wait(ctx); err != nil {
						return nil, err
					}
				}
				return next(ctx, c)
			}
		},
	}
	spec := func(method string, who action.Audience, effect action.Effect, tab action.TabScope) *action.Spec {
		return action.Describe[workArgs, workResult](action.Spec{Method: method, Verb: method, Summary: "Does " + method + ".",
			Audience: who, Capability: "test", Effect: effect, Tab: tab})
	}
	answer := func(c *action.Call, a workArgs) workResult {
		return workResult{Name: a.Name, By: string(c.Actor.Agent), Tab: c.Tab, More: strings.Repeat("x", a.Size), Line: c.Actor.Line}
	}
	quick := func(_ context.Context, c *action.Call, a workArgs) (workResult, error) { return answer(c, a), nil }
	slow := func(ctx context.Context, c *action.Call, a workArgs) (workResult, error) {
		h.started <- a.Name
		select {
		case <-h.let:
			return answer(c, a), nil
		case <-ctx.Done():
			return workResult{}, ctx.Err()
		}
	}
	only := func(context.Context, *action.Call, workArgs) (workResult, error) {
		h.people++
		return workResult{}, nil
	}
	all := []action.Bound{
		action.Bind(spec("echo", action.Agents, action.Reads, action.NoTab), quick),
		action.Bind(spec("work", action.Agents, action.Mutates, action.NoTab), slow),
		action.Bind(spec("click", action.Agents, action.Mutates, action.OneTab), slow),
	}
	for _, method := range peoples {
		all = append(all, action.Bind(spec(method, action.People, action.Mutates, action.NoTab), only))
	}
	h.Door = Door{
		Dispatcher: action.NewDispatcher(all, path, time.Now), Agents: &h.agents, Log: &h.log, Bus: &h.bus,
		Version: "1.2.3", Status: func() Status { return Status{Kind: "serve", PID: 7, Version: "1.2.3"} },
		Notes: slog.New(slog.DiscardHandler),
	}
	return h
}

// peoples are what only the person in the window may do.
var peoples = []string{
	"overview", "agents", "sessions", "thumbnail", "pause_agent", "resume_agent", "stop_agent", "close_session", "questions",
	"answer_question", "settings", "change_settings", "sites", "set_site", "remove_site", "history", "remove_visit", "clear_history",
	"audit", "verify_audit", "connect_info", "window_state",
}

// caller is the agent's end of a line.
type caller struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
	// done is closed when Serve has returned.
	done chan struct{}
	stop context.CancelFunc
}

// call opens a line to the door.
func (h *host) call(t *testing.T) *caller {
	t.Helper()
	near, far := net.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	c := &caller{t: t, conn: near, r: bufio.NewReader(near), done: make(chan struct{}), stop: cancel}
	go func() { defer close(c.done); h.Serve(ctx, far) }()
	t.Cleanup(func() { near.Close(); <-c.done; cancel() })
	return c
}

func (c *caller) say(lines ...string) {
	c.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(c.conn, l+"\n"); err != nil {
			c.t.Fatalf("saying %.60s: %v", l, err)
		}
	}
}

// hear reads the next line.
func (c *caller) hear() string {
	c.t.Helper()
	s, err := c.r.ReadString('\n')
	if err != nil {
		c.t.Fatalf("hearing: %v", err)
	}
	return strings.TrimSuffix(s, "\n")
}

// ask says a line and wants an answer that contains all the parts.
func (c *caller) ask(line string, parts ...string) string {
	c.t.Helper()
	c.say(line)
	return c.want(parts...)
}

func (c *caller) want(parts ...string) string {
	c.t.Helper()
	got := c.hear()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			c.t.Errorf("got %.400s\nwant a line with %s", got, part)
		}
	}
	return got
}

func TestHello(t *testing.T) {
	h := newHost(t)
	c := h.call(t)
	c.ask(`{"id":1,"method":"hello","args":{"protocol":2}}`, `"id":1`, `"UNSUPPORTED_PROTOCOL"`, `speaks protocol 1, not 2`)
	for _, name := range []string{".", "..", "a/b", "../x", "a b", "ä", ".hidden", "-x", strings.Repeat("a", 65), `a\u0000`} {
		c.ask(`{"id":2,"method":"hello","args":{"agent":"`+name+`"}}`, `"INVALID_ARGUMENTS"`, "1 to 64 letters")
	}
	c.ask(`{"id":3,"method":"hello","args":{"agent":"ann","person":true}}`, `"INVALID_ARGUMENTS"`, "agent, protocol")
	c.ask(`{"id":3,"method":"hello","args":{"AGENT":"ann"}}`, `"INVALID_ARGUMENTS"`, "agent, protocol")
	c.ask(`{"id":3,"method":"hello","args":{"protocol":"1"}}`, `"INVALID_ARGUMENTS"`, "protocol")
	c.ask(`{"id":4,"method":"hello","args":{"agent":"ann","protocol":1}}`,
		`{"id":4,"ok":true,"result":{"protocol":1,"agent":"ann","session":"sess_ann","version":"1.2.3"}}`)
	c.ask(`{"id":5,"method":"hello","args":{"agent":"bob"}}`, `"INVALID_ARGUMENTS"`, "already has an agent: ann")
	c.ask(`{"id":6,"method":"echo"}`, `"by":"ann"`, `"line":"line-1"`)
}

func TestWithoutHelloTheFirstActionMakesAnAgent(t *testing.T) {
	h := newHost(t)
	c := h.call(t)
	for _, line := range []string{
		`{"id":1,"method":"ping"}`, `{"id":1,"method":"methods"}`, `{"id":1,"method":"status"}`, `{"id":1,"method":"nothing_like_it"}`,
		`{"id":1,"method":"answer_question"}`, `{"id":1,"method":"cancel","args":{"id":5}}`, `not JSON`, `{"id":1,"method":"hello","args":{"protocol":9}}`,
	} {
		c.ask(line)
	}
	if h.agents.fresh != 0 {
		t.Fatalf("%d agents were made by lines that need none", h.agents.fresh)
	}
	c.ask(`{"id":2,"method":"echo"}`, `"by":"fresh-1"`)
	c.ask(`{"id":3,"method":"echo"}`, `"by":"fresh-1"`)
	c.ask(`{"id":4,"method":"hello","args":{"agent":"ann"}}`, "already has an agent: fresh-1")
}

func TestAgentThatIsRefusedKeepsItsLine(t *testing.T) {
	h := newHost(t)
	h.agents.refuse = fault.New(fault.BrowserDisabled, "agent control is off")
	c := h.call(t)
	c.ask(`{"id":1,"method":"hello"}`, `"BROWSER_DISABLED"`)
	c.ask(`{"id":2,"method":"echo"}`, `"BROWSER_DISABLED"`)
	c.ask(`{"id":3,"method":"subscribe"}`, `"BROWSER_DISABLED"`)
	h.agents.mu.Lock()
	h.agents.refuse = nil
	h.agents.mu.Unlock()
	c.ask(`{"id":4,"method":"hello","args":{"agent":"ann"}}`, `"ok":true`)
}

func TestBadLinesCostThatLineOnly(t *testing.T) {
	h := newHost(t)
	c := h.call(t)
	c.ask(`{"id":1,`, `"id":null`, `"BAD_LINE"`, "methods")
	c.ask(`[]`, `"BAD_LINE"`)
	c.ask(`{"id":[1, 2],"method":"ech"}`, `{"id":[1, 2],"ok":false`, `Did you mean \"echo\"?`, "of the line itself: hello, ping")
	c.ask(`{"id":3,"method":"echo","args":{"nam":"x"}}`, `"INVALID_ARGUMENTS"`, "name, size, tabId")
	c.ask(`{"id":4,"method":"ping","args":{"x":1}}`, `"INVALID_ARGUMENTS"`, "none")
	go io.WriteString(c.conn, strings.Repeat("x", wire.MaxLine+1)+"\n")
	c.want(`"id":null`, `"LINE_TOO_LONG"`)
	c.ask(`{"id":5,"method":"echo","args":{"size":17000000}}`, `"LINE_TOO_LONG"`, `"id":5`, `"effect_state":"committed"`)
	c.ask(`{"id":{"k": "v"},"method":"ping"}`, `{"id":{"k": "v"},"ok":true,"result":{}}`)
}

func TestNoWayToDoWhatPeopleDo(t *testing.T) {
	h := newHost(t)
	c := h.call(t)
	c.ask(`{"id":0,"method":"hello","args":{"agent":"ann"}}`, `"ok":true`)
	forged := []string{`"person":true`, `"actor":{"Person":true}`, `"Actor":{"Person":true}`, `"audience":"people"`, `"agent":""`, `"by":"person"`}
	for _, method := range peoples {
		c.ask(`{"id":1,"method":"`+method+`"}`, `"UNKNOWN_METHOD"`)
		for _, f := range forged {
			c.ask(`{"id":2,"method":"`+method+`","args":{`+f+`}}`, `"UNKNOWN_METHOD"`)
			c.ask(`{"id":3,"method":"`+method+`",`+f+`}`, `"BAD_LINE"`)
		}
	}
	for _, f := range forged {
		c.ask(`{"id":4,"method":"echo","args":{`+f+`}}`, `"INVALID_ARGUMENTS"`)
		c.ask(`{"id":5,"method":"hello","args":{`+f+`}}`, `"INVALID_ARGUMENTS"`)
	}
	var listed struct {
		Result struct {
			Methods []struct{ Method, Summary string }
		}
	}
	if err := json.Unmarshal([]byte(c.ask(`{"id":6,"method":"methods"}`, `"ok":true`)), &listed); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range listed.Result.Methods {
		names = append(names, m.Method)
	}
	if want := []string{"hello", "ping", "cancel", "methods", "subscribe", "status", "bye", "click", "echo", "work"}; !slices.Equal(names, want) {
		t.Errorf("agents are offered %v, want %v", names, want)
	}
	if h.people != 0 {
		t.Errorf("%d calls reached what only people may do", h.people)
	}
}

func TestCallsOverlapAndAnswersComeInAnyOrder(t *testing.T) {
	h := newHost(t)
	c := h.call(t)
	c.say(`{"id":"slow","method":"work","args":{"name":"a"}}`)
	<-h.started
	c.ask(`{"id":"quick","method":"echo"}`, `{"id":"quick"`)
	c.ask(`{"id":"slow","method":"echo"}`, `{"id":"slow"`, `"INVALID_ARGUMENTS"`, "under way")
	c.ask(`{"id":"status","method":"status"}`, `"kind":"serve"`, `"pid":7`)
	close(h.let)
	c.want(`{"id":"slow","ok":true`, `"name":"a"`)
	c.ask(`{"id":"slow","method":"echo"}`, `{"id":"slow","ok":true`)
}

func TestCallsKeepTheOrderOfTheirArrival(t *testing.T) {
	h := newHost(t)
	close(h.let)
	c := h.call(t)
	const n = 50
	go func() {
		for i := range n {
			fmt.Fprintf(c.conn, `{"id":%d,"method":"click","args":{"name":"%d","tabId":1}}`+"\n", i, i)
		}
	}()
	for range n {
		c.want(`"ok":true`)
	}
	for i := range n {
		if got := <-h.started; got != fmt.Sprint(i) {
			t.Fatalf("call %s ran in place %d", got, i)
		}
	}
}

func TestLimitOfCallsUnderWay(t *testing.T) {
	h := newHost(t)
	c := h.call(t)
	for i := range atOnce {
		c.say(fmt.Sprintf(`{"id":%d,"method":"work"}`, i))
		<-h.started
	}
	c.ask(`{"id":"more","method":"echo"}`, `{"id":"more"`, `"BUSY"`)
	c.ask(`{"id":"ping","method":"ping"}`, `"ok":true`)
	c.ask(`{"id":"c","method":"cancel","args":{"id":5}}`)
	c.want()
	c.ask(`{"id":"more","method":"echo"}`, `{"id":"more","ok":true`)
}

func TestCancel(t *testing.T) {
	h := newHost(t)
	c := h.call(t)
	c.say(`{"id":{"n": 1},"method":"click","args":{"name":"first"}}`)
	<-h.started
	c.say(`{"id":2,"method":"click","args":{"name":"waits"}}`)
	c.say(`{"method":"work","args":{"name":"nameless"}}`)
	<-h.started
	c.ask(`{"id":9,"method":"cancel","args":{"id":"2"}}`, `"cancelled":false`)
	c.ask(`{"id":9,"method":"cancel","args":{"id":null}}`, `"cancelled":false`)
	c.ask(`{"id":9,"method":"cancel"}`, `"INVALID_ARGUMENTS"`, "id (required)")
	answers := func(lines ...string) {
		t.Helper()
		got := []string{c.hear(), c.hear()}
		slices.Sort(got)
		slices.Sort(lines)
		if !slices.Equal(got, lines) {
			t.Errorf("got  %q\nwant %q", got, lines)
		}
	}
	c.say(`{"id":9,"method":"cancel","args":{"id":2}}`)
	answers(`{"id":9,"ok":true,"result":{"cancelled":true}}`,
		`{"id":2,"ok":false,"error":{"code":"CANCELLED","message":"the call was cancelled","effect_state":"none"}}`)
	c.say(`{"id":9,"method":"cancel","args":{"id":{"n":1}}}`)
	answers(`{"id":9,"ok":true,"result":{"cancelled":true}}`,
		`{"id":{"n": 1},"ok":false,"error":{"code":"CANCELLED","message":"the call was cancelled","effect_state":"unknown"}}`)
	c.ask(`{"id":9,"method":"cancel","args":{"id":2}}`, `"cancelled":false`)
}

func TestEndOfStreamCancelsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		c := h.call(t)
		c.ask(`{"id":0,"method":"hello","args":{"agent":"ann"}}`, `"ok":true`)
		c.say(`{"id":1,"method":"work"}`, `{"id":2,"method":"click"}`, `{"id":3,"method":"click"}`, `{"id":4,"method":"subscribe"}`)
		c.want(`{"id":4`)
		began := time.Now()
		c.conn.Close()
		<-c.done
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
		if h.lanes.Waiting() != 0 || !slices.Equal(h.agents.gone(), []ids.Agent{"ann"}) {
			t.Errorf("%d calls in line, left: %v", h.lanes.Waiting(), h.agents.gone())
		}
	})
}

func TestByeLetsCallsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		c := h.call(t)
		c.say(`{"id":1,"method":"work"}`, `{"id":"b","method":"bye"}`)
		c.ask(`{"id":2,"method":"ping"}`, `{"id":2,"ok":false`, "after bye")
		time.Sleep(5 * time.Second)
		close(h.let)
		c.want(`{"id":1,"ok":true`)
		c.want(`{"id":"b","ok":true,"result":{}}`)
		if _, err := c.r.ReadByte(); err != io.EOF {
			t.Errorf("after bye: %v", err)
		}
		<-c.done
		if got := h.agents.gone(); len(got) != 1 {
			t.Errorf("left: %v", got)
		}
	})
}

func TestByeIsBounded(t *testing.T) {
	for _, c := range []struct {
		name   string
		person bool
		want   time.Duration
		parts  []string
	}{
		{"a call that runs", false, finishing, []string{`"BROWSER_TIMEOUT"`, `"effect_state":"unknown"`}},
		{"a call that waits for a person", true, finishingAll, []string{`"CANCELLED"`, "bye"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t)
				line := h.call(t)
				line.say(`{"id":1,"method":"click","args":{"tabId":1}}`)
				<-h.started
				if c.person {
					h.lanes.Hold(1)
				}
				began := time.Now()
				line.say(`{"id":2,"method":"bye"}`)
				line.want(append(c.parts, `{"id":1,"ok":false`)...)
				line.want(`{"id":2,"ok":true`)
				<-line.done
				if took := time.Since(began); took != c.want {
					t.Errorf("it took %v, want %v", took, c.want)
				}
			})
		})
	}
}

func TestByeOfACallerThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		c := h.call(t)
		c.say(`{"id":1,"method":"work"}`, `{"id":2,"method":"bye"}`)
		began := time.Now()
		c.conn.Close()
		<-c.done
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
}

func TestEndOfTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		c := h.call(t)
		c.say(`{"id":1,"method":"work"}`)
		<-h.started
		c.stop()
		c.want(`{"id":1,"ok":false`, `"BROWSER_DISPOSING"`, `"effect_state":"unknown"`)
		<-c.done
		if len(h.agents.gone()) != 1 {
			t.Error("the agent did not leave")
		}
	})
}

func TestCallerThatDoesNotReadLosesItsLineOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		deaf, other := h.call(t), h.call(t)
		deaf.say(`{"id":1,"method":"echo"}`)
		began := time.Now()
		other.ask(`{"id":1,"method":"echo"}`, `"ok":true`)
		if took := time.Since(began); took != 0 {
			t.Errorf("another line waited %v", took)
		}
		<-deaf.done
		if took := time.Since(began); took != patience {
			t.Errorf("the line stood for %v, want %v", took, patience)
		}
		other.ask(`{"id":2,"method":"echo"}`, `"ok":true`)
	})
}

func TestCallerThatDoesNotReadDoesNotHoldTheHostUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		c := h.call(t)
		c.say(`{"id":1,"method":"ping"}`) // the answer is not read
		synctest.Wait()
		began := time.Now()
		c.stop()
		<-c.done
		if took := time.Since(began); took != parting {
			t.Errorf("it took %v, want %v", took, parting)
		}
	})
}

func TestSubscribe(t *testing.T) {
	h := newHost(t)
	c := h.call(t)
	c.ask(`{"id":0,"method":"hello","args":{"agent":"ann"}}`, `"ok":true`)
	note := func(category string, who ids.Agent) {
		if err := h.log.Append(t.Context(), event.Draft{Category: category, Agent: who}); err != nil {
			t.Fatal(err)
		}
	}
	note("browser.tab.opened", "ann")
	c.ask(`{"id":1,"method":"subscribe","args":{"prefix":"browser","after":-4}}`, `{"id":1,"ok":true,"result":{"after":0}}`)
	c.want(`{"event":{"seq":1,`)
	note("browser.tab.closed", "bob") // another agent's
	note("setting.changed", "")       // the person's
	note("approval.asked", "ann")     // not of the prefix
	note("browser.session.ready", "ann")
	c.want(`{"event":{"seq":5,`, `"category":"browser.session.ready"`)
	c.ask(`{"id":2,"method":"subscribe"}`, `"INVALID_ARGUMENTS"`, "subscribed already")

	// One who comes later starts at the end of the log, and reads on over many pages.
	late := h.call(t)
	late.ask(`{"id":0,"method":"hello","args":{"agent":"dan"}}`, `"ok":true`)
	late.ask(`{"id":1,"method":"subscribe"}`, `"after":5`)
	go func() {
		for range 3*page + 7 {
			_ = h.log.Append(context.Background(), event.Draft{Category: "a", Agent: "dan"}, event.Draft{Category: "a", Agent: "eve"})
		}
	}()
	for i := range 3*page + 7 {
		late.want(fmt.Sprintf(`{"event":{"seq":%d,`, 6+2*i), `"agent":"dan"`)
	}
}

func TestSubscriberMakesAnAgentAndHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		deaf, c := h.call(t), h.call(t)
		deaf.ask(`{"id":1,"method":"subscribe"}`, `"after":0`)
		began := time.Now()
		for range 1000 {
			if err := h.log.Append(t.Context(), event.Draft{Category: "a", Agent: "fresh-1"}); err != nil {
				t.Fatal(err)
			}
		}
		c.ask(`{"id":1,"method":"echo"}`, `"by":"fresh-2"`)
		if took := time.Since(began); took != 0 {
			t.Errorf("another waited %v", took)
		}
		<-deaf.done
	})
}

func TestPanicIsTheEndOfOneCall(t *testing.T) {
	h := newHost(t)
	boom := action.Bind(action.Describe[workArgs, workResult](action.Spec{Method: "boom", Verb: "boom", Summary: "Breaks.",
		Audience: action.Agents, Capability: "test", Effect: action.Mutates, Tab: action.NoTab}),
		func(context.Context, *action.Call, workArgs) (workResult, error) { panic("hunter2") })
	pass := func(next action.Runner) action.Runner { return next }
	h.Dispatcher = action.NewDispatcher([]action.Bound{boom}, action.Path{
		Line: func(ids.Agent) *action.Lanes { return h.lanes }, Record: pass, Admit: pass, Decide: pass, Hold: pass}, time.Now)
	var notes strings.Builder
	h.Notes = slog.New(slog.NewTextHandler(&notes, nil))
	c := h.call(t)
	c.ask(`{"id":1,"method":"boom"}`, `"INTERNAL"`, `"effect_state":"unknown"`)
	c.ask(`{"id":2,"method":"ping"}`, `"ok":true`)
	if !strings.Contains(notes.String(), "boom") || strings.Contains(notes.String(), "hunter2") {
		t.Errorf("the log has %s", notes.String())
	}
}

// FuzzLine says anything to a door: each line that is not blank gets an answer
// that is a line of JSON, and the line stays open.
func FuzzLine(f *testing.F) {
	f.Add("{\"id\":1,\"method\":\"ping\"}\n{\"id\":1,\"method\":\"echo\",\"args\":{}}")
	f.Add("{\"id\":null,\"method\":\"cancel\",\"args\":{\"id\":[]}}\n\n[[[")
	f.Add("{\"id\":7,\"method\":\"hello\",\"args\":{\"agent\":\"\\ud800\"}}\r\n{\"method\":\"subscribe\",\"args\":{\"after\":1e9}}")
	f.Fuzz(func(t *testing.T, text string) {
		h := newHost(&testing.T{})
		close(h.let)
		near, far := net.Pipe()
		done := make(chan struct{})
		go func() { defer close(done); h.Serve(context.Background(), far) }()
		lines := 0
		for l := range strings.SplitSeq(text, "\n") {
			if strings.TrimSpace(l) != "" && !strings.Contains(l, "bye") {
				lines++
			}
		}
		go func() {
			for l := range strings.SplitSeq(text, "\n") {
				if !strings.Contains(l, "bye") {
					_, _ = io.WriteString(near, l+"\n")
				}
			}
		}()
		r := wire.NewReader(near)
		for i := range lines {
			got, err := r.Next()
			if err != nil || !json.Valid(got) {
				t.Fatalf("answer %d of %d to %q: %q, %v", i+1, lines, text, got, err)
			}
		}
		near.Close()
		<-done
	})
}
