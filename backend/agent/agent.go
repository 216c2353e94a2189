// Package agent knows the agents: who is connected, what each is doing, and
// whether the person lets it go on.
//
// It promises that a paused or stopped agent's call is refused before it
// reaches anything, and that stopping one ends its calls under way at once. It
// knows nothing of browsers or lines; doors call Connect, the path calls Enter.
package agent

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/ids"

	"github.com/google/uuid"
)

// State says whether an agent may act.
type State string

// The states of an agent that came in over a door.
const (
	Ready   State = "ready"
	Paused  State = "paused"
	Stopped State = "stopped"
	// Gone: it is not connected.
	Gone State = "gone"
)

// Values lists the states, for schemas.
func (State) Values() []string { return []string{"ready", "paused", "stopped", "gone"} }

// Running is a call under way.
type Running struct {
	Call      ids.Call  `json:"call"`
	Method    string    `json:"method"`
	Tab       ids.Tab   `json:"tab,omitempty"`
	StartedAt time.Time `json:"startedAt"`
}

// Last is a call that has ended.
type Last struct {
	Method string    `json:"method"`
	At     time.Time `json:"at"`
	OK     bool      `json:"ok"`
	Code   string    `json:"code,omitempty" jsonschema:"the error's code when it failed"`
}

// Agent is what there is to say of an agent.
type Agent struct {
	Agent       ids.Agent   `json:"agent"`
	Session     ids.Session `json:"session"`
	Connected   bool        `json:"connected"`
	Lines       int         `json:"lines" jsonschema:"connections that it has open"`
	State       State       `json:"state"`
	ConnectedAt *time.Time  `json:"connectedAt,omitempty"`
	Actions     int         `json:"actions" jsonschema:"calls since the host started"`
	Running     *Running    `json:"running,omitempty" jsonschema:"the oldest call under way"`
	LastAction  *Last       `json:"lastAction,omitempty"`
}

// Record is what is kept of an agent across restarts.
type Record struct {
	Agent   ids.Agent
	Session ids.Session
	// Named is whether it chose its name; one that did not is forgotten when it leaves.
	Named     bool
	CreatedAt time.Time
}

// Store keeps records. Drafts are committed together with the change.
type Store interface {
	PutAgent(ctx context.Context, r Record, drafts ...event.Draft) error
	Agent(ctx context.Context, name ids.Agent) (Record, bool, error)
}

// Connected is one line of an agent. Leave must be called when it ends.
type Connected struct {
	Agent   ids.Agent
	Session ids.Session
	Line    string
	// Leave says that the line has ended and none of its calls is under way.
	Leave func(ctx context.Context)
}

// remembered is how many agents that are not connected stay listed.
const remembered = 20

// Service knows the agents.
type Service struct {
	store Store
	log   event.Log
	now   func() time.Time
	// gone is told when an agent's last line has ended; named as in Record.
	gone func(ctx context.Context, name ids.Agent, named bool)

	mu     sync.Mutex
	agents map[ids.Agent]*entry
}

type entry struct {
	Agent
	named   bool
	left    time.Time
	running []*running
	// connecting serialises the store's part of Connect for one agent.
	connecting sync.Mutex
}

type running struct {
	Running
	cancel context.CancelCauseFunc
}

// New returns a Service. gone is called after an agent's last line has ended
// and before Leave returns.
func New(store Store, log event.Log, now func() time.Time, gone func(ctx context.Context, name ids.Agent, named bool)) *Service {
	return &Service{store: store, log: log, now: now, gone: gone, agents: map[ids.Agent]*entry{}}
}

// Connect takes in a line of the agent name, or of a fresh agent when name is
// empty. Lines that give the same name are the same agent, with one window. It
// fails when the account cannot be written: fault.LedgerUnavailable.
func (s *Service) Connect(ctx context.Context, name ids.Agent) (Connected, error) {
	named := name != ""
	if !named {
		name = ids.NewAgent()
	}
	s.mu.Lock()
	e := s.agents[name]
	if e == nil {
		e = &entry{Agent: Agent{Agent: name, State: Ready}, named: named}
		s.agents[name] = e
	}
	s.mu.Unlock()

	e.connecting.Lock()
	defer e.connecting.Unlock()
	line := uuid.NewString()
	rec, known, err := s.store.Agent(ctx, name)
	if err == nil {
		if !known {
			rec = Record{Agent: name, Session: ids.NewSession(), Named: named, CreatedAt: s.now()}
		}
		err = s.store.PutAgent(ctx, rec, event.Draft{Category: "agent.connected", Subject: string(name), Agent: name,
			Data: map[string]any{"session": rec.Session, "named": named}})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if e.Lines == 0 && e.State == Ready {
			delete(s.agents, name)
		}
		return Connected{}, err
	}
	at := s.now()
	if e.Lines == 0 {
		e.ConnectedAt = &at
	}
	e.Session = rec.Session
	e.Lines++
	e.Connected = true
	s.forget()
	var once sync.Once
	return Connected{Agent: name, Session: rec.Session, Line: line, Leave: func(ctx context.Context) {
		once.Do(func() { s.leave(ctx, e) })
	}}, nil
}

func (s *Service) leave(ctx context.Context, e *entry) {
	e.connecting.Lock()
	defer e.connecting.Unlock()
	s.mu.Lock()
	e.Lines--
	last := e.Lines == 0
	if last {
		e.Connected, e.ConnectedAt, e.left = false, nil, s.now()
	}
	name, named, keep := e.Agent.Agent, e.named, e.State != Ready
	s.mu.Unlock()
	if !last {
		return
	}
	if s.gone != nil {
		s.gone(ctx, name, named)
	}
	// The line has ended whether or not it can be written down.
	_ = s.log.Append(ctx, event.Draft{Category: "agent.disconnected", Subject: string(name), Agent: name})
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Lines == 0 && !named && !keep {
		delete(s.agents, name)
	}
}

// forget drops the agents that left longest ago. The lock is held.
func (s *Service) forget() {
	var idle []*entry
	for _, e := range s.agents {
		if !e.Connected && e.State == Ready && !e.left.IsZero() {
			idle = append(idle, e)
		}
	}
	slices.SortFunc(idle, func(a, b *entry) int { return b.left.Compare(a.left) })
	for _, e := range idle[min(remembered, len(idle)):] {
		delete(s.agents, e.Agent.Agent)
	}
}

// Enter is the admission of a call: it refuses those of agents that are paused
// or stopped, and keeps the others in sight until leave is called with what
// came of them. The context ends, with an AGENT_STOPPED cause, when the person
// stops the agent.
func (s *Service) Enter(ctx context.Context, c *action.Call) (_ context.Context, leave func(err error), _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.agents[c.Actor.Agent]
	if e == nil {
		return nil, nil, fault.New(fault.BrowserDisposing, "this agent is no longer connected")
	}
	e.Actions++
	if err := refusal(e.State); err != nil && c.Spec.Effect != action.Reads {
		return nil, nil, err
	} else if e.State == Stopped {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r := &running{Running{Call: c.ID, Method: c.Spec.Method, Tab: c.Tab, StartedAt: c.Began}, cancel}
	e.running = append(e.running, r)
	return ctx, func(err error) {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		e.running = slices.DeleteFunc(e.running, func(x *running) bool { return x == r })
		last := Last{Method: r.Method, At: s.now(), OK: err == nil}
		if err != nil {
			last.Code = string(fault.From(err).Code)
		}
		e.LastAction = &last
	}, nil
}

// Still reports whether the agent may still act, for the moment just before it does.
func (s *Service) Still(c *action.Call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.agents[c.Actor.Agent]
	if e == nil || c.Spec.Effect == action.Reads && e.State != Stopped {
		return nil
	}
	return refusal(e.State)
}

func refusal(state State) error {
	switch state {
	case Paused:
		return fault.New(fault.AgentPaused, "the person has paused this agent").
			WithHint("Nothing was done. Reading goes on; act again when the person resumes you.").WithEffect(fault.EffectNone)
	case Stopped:
		return fault.New(fault.AgentStopped, "the person has stopped this agent").
			WithHint("Nothing more is done for you until the person resumes you in the app. End your task here.").
			WithEffect(fault.EffectNone)
	}
	return nil
}

// Pause lets the agent read but not act, from its next call on.
func (s *Service) Pause(ctx context.Context, name ids.Agent) error {
	return s.change(ctx, name, Paused, "agent.paused")
}

// Resume lets a paused or stopped agent act again.
func (s *Service) Resume(ctx context.Context, name ids.Agent) error {
	return s.change(ctx, name, Ready, "agent.resumed")
}

// Stop refuses everything of the agent and ends its calls under way.
func (s *Service) Stop(ctx context.Context, name ids.Agent) error {
	return s.change(ctx, name, Stopped, "agent.stopped")
}

func (s *Service) change(ctx context.Context, name ids.Agent, to State, category string) error {
	s.mu.Lock()
	e := s.agents[name]
	if e == nil {
		s.mu.Unlock()
		return fault.New(fault.NotFound, "there is no agent %q", name)
	}
	if e.State == to {
		s.mu.Unlock()
		return nil
	}
	e.State = to
	var calls []*running
	if to == Stopped {
		calls = slices.Clone(e.running)
	}
	s.mu.Unlock()
	for _, r := range calls {
		r.cancel(fault.New(fault.AgentStopped, "the person has stopped this agent").
			WithHint("End your task here.").WithEffect(fault.EffectUnknown))
	}
	// The person's word holds at once; the row follows it.
	return s.log.Append(ctx, event.Draft{Category: category, Subject: string(name), Agent: name})
}

// StopAll ends every call under way with cause, for a switch that turns all agents off.
func (s *Service) StopAll(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.agents {
		for _, r := range e.running {
			r.cancel(cause)
		}
	}
}

// List returns the agents by name.
func (s *Service) List() []Agent {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Agent, 0, len(s.agents))
	for _, e := range s.agents {
		out = append(out, e.view())
	}
	slices.SortFunc(out, func(a, b Agent) int { return strings.Compare(string(a.Agent), string(b.Agent)) })
	return out
}

func (e *entry) view() Agent {
	a := e.Agent
	if !a.Connected && a.State == Ready {
		a.State = Gone
	}
	if len(e.running) > 0 {
		r := e.running[0].Running
		a.Running = &r
	}
	return a
}
