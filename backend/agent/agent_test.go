package agent_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/agent"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
)

// memory is a store and a log in memory.
type memory struct {
	mu      sync.Mutex
	records map[ids.Agent]agent.Record
	rows    []string
	err     error
}

func (m *memory) PutAgent(_ context.Context, r agent.Record, drafts ...event.Draft) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	m.records[r.Agent] = r
	for _, d := range drafts {
		m.rows = append(m.rows, d.Category)
	}
	return nil
}

func (m *memory) Agent(_ context.Context, name ids.Agent) (agent.Record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.records[name]
	return r, ok, nil
}

func (m *memory) Append(_ context.Context, drafts ...event.Draft) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range drafts {
		m.rows = append(m.rows, d.Category)
	}
	return m.err
}
func (m *memory) After(context.Context, int64, int) ([]event.Event, error) { return nil, nil }
func (m *memory) Last(context.Context) (int64, error)                      { return 0, nil }

type left struct {
	name  ids.Agent
	named bool
}

func service(m *memory) (*agent.Service, *[]left) {
	var gone []left
	return agent.New(m, m, time.Now, func(_ context.Context, name ids.Agent, named bool) { gone = append(gone, left{name, named}) }), &gone
}

func newMemory() *memory { return &memory{records: map[ids.Agent]agent.Record{}} }

func call(name ids.Agent, effect action.Effect) *action.Call {
	return &action.Call{ID: ids.NewCall(), Spec: &action.Spec{Method: "m", Effect: effect}, Actor: action.Actor{Agent: name}, Began: time.Now()}
}

func TestLinesOfOneName(t *testing.T) {
	m := newMemory()
	s, gone := service(m)
	a, err := s.Connect(t.Context(), "bob")
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Connect(t.Context(), "bob")
	if err != nil || a.Session != b.Session || a.Line == b.Line {
		t.Fatalf("%+v %+v %v", a, b, err)
	}
	a.Leave(t.Context())
	a.Leave(t.Context())
	if len(*gone) != 0 || !s.List()[0].Connected {
		t.Fatal("gone although a line is open")
	}
	b.Leave(t.Context())
	if len(*gone) != 1 || (*gone)[0] != (left{"bob", true}) {
		t.Fatalf("gone: %v", *gone)
	}
	again, err := s.Connect(t.Context(), "bob")
	if err != nil || again.Session != a.Session {
		t.Errorf("the session did not come back: %+v, %v", again, err)
	}
}

func TestFreshAgentsAreForgotten(t *testing.T) {
	s, gone := service(newMemory())
	a, err := s.Connect(t.Context(), "")
	if err != nil || a.Agent == "" {
		t.Fatal(a, err)
	}
	b, _ := s.Connect(t.Context(), "")
	if a.Agent == b.Agent {
		t.Error("two fresh agents have one name")
	}
	a.Leave(t.Context())
	b.Leave(t.Context())
	if len(s.List()) != 0 || len(*gone) != 2 || (*gone)[0].named {
		t.Errorf("listed %v, gone %v", s.List(), *gone)
	}
}

func TestNoRowNoAgent(t *testing.T) {
	m := newMemory()
	m.err = fault.New(fault.LedgerUnavailable, "the disk is full")
	s, _ := service(m)
	if _, err := s.Connect(t.Context(), "bob"); !errors.Is(err, m.err) {
		t.Fatal(err)
	}
	if len(s.List()) != 0 {
		t.Error("it is listed")
	}
}

func TestPauseStopResume(t *testing.T) {
	m := newMemory()
	s, _ := service(m)
	c, err := s.Connect(t.Context(), "bob")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Leave(t.Context())
	enter := func(effect action.Effect) error {
		_, leave, err := s.Enter(t.Context(), call("bob", effect))
		if err == nil {
			leave(nil)
		}
		return err
	}
	if err := s.Pause(t.Context(), "bob"); err != nil {
		t.Fatal(err)
	}
	if err := enter(action.Mutates); !fault.Is(err, fault.AgentPaused) || fault.From(err).Effect != fault.EffectNone {
		t.Errorf("acting while paused: %v", err)
	}
	if err := enter(action.Reads); err != nil {
		t.Errorf("reading while paused: %v", err)
	}
	if err := s.Stop(t.Context(), "bob"); err != nil {
		t.Fatal(err)
	}
	if err := enter(action.Reads); !fault.Is(err, fault.AgentStopped) {
		t.Errorf("reading while stopped: %v", err)
	}
	if err := s.Resume(t.Context(), "bob"); err != nil {
		t.Fatal(err)
	}
	if err := enter(action.Mutates); err != nil {
		t.Errorf("acting after resume: %v", err)
	}
	if err := s.Pause(t.Context(), "nobody"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown agent: %v", err)
	}
}

func TestStopEndsWhatIsUnderWay(t *testing.T) {
	s, _ := service(newMemory())
	c, err := s.Connect(t.Context(), "bob")
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave, err := s.Enter(t.Context(), call("bob", action.Mutates))
	if err != nil {
		t.Fatal(err)
	}
	if r := s.List()[0].Running; r == nil || r.Method != "m" {
		t.Errorf("running: %+v", r)
	}
	if err := s.Stop(t.Context(), "bob"); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if !fault.Is(context.Cause(ctx), fault.AgentStopped) {
		t.Errorf("cause: %v", context.Cause(ctx))
	}
	leave(context.Cause(ctx))
	if last := s.List()[0].LastAction; last == nil || last.OK || last.Code != string(fault.AgentStopped) {
		t.Errorf("last: %+v", last)
	}
	c.Leave(t.Context())
	// A stop outlasts the line: coming in again is no way around it.
	again, err := s.Connect(t.Context(), "bob")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Leave(t.Context())
	if _, _, err := s.Enter(t.Context(), call("bob", action.Mutates)); !fault.Is(err, fault.AgentStopped) {
		t.Errorf("after coming in again: %v", err)
	}
}

func TestStopBetweenAdmissionAndTurn(t *testing.T) {
	s, _ := service(newMemory())
	c, _ := s.Connect(t.Context(), "bob")
	defer c.Leave(t.Context())
	k := call("bob", action.Mutates)
	if err := s.Still(k); err != nil {
		t.Fatal(err)
	}
	if err := s.Pause(t.Context(), "bob"); err != nil {
		t.Fatal(err)
	}
	if err := s.Still(k); !fault.Is(err, fault.AgentPaused) {
		t.Errorf("%v", err)
	}
	if err := s.Still(call("bob", action.Reads)); err != nil {
		t.Errorf("a read: %v", err)
	}
}
