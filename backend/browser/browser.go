// Package browser gives each agent a window of its own: a headed Chromium,
// started by the agent's first action, with its tabs, dialogs and popups.
//
// It promises that no top-level destination is requested before the Gate has
// allowed it, that a Chromium's end is noticed at once and touches no other
// window, and that a tab number means one tab for ever. It decides nothing
// itself and asks nobody: the Gate does. It must not know how agents come in.
package browser

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/chrome"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/page"
	"chaperone/backend/policy"
)

// Request is a top-level navigation that the Gate may ask the person about.
type Request struct {
	Question ids.Question
	Agent    ids.Agent
	Session  ids.Session
	Tab      ids.Tab
	policy.Navigation
	FromTitle  string
	HTTPMethod string
	HasBody    bool
}

// Verdict is what came of asking.
type Verdict struct {
	Allowed bool
	// Answered is whether the person themselves said so.
	Answered bool
	// Reason says why in words, for the agent.
	Reason string
	// Err is what a call that wanted it fails with when it is not allowed.
	Err error
}

// Gate decides navigations.
type Gate interface {
	// Decide decides by rules alone. It must not block.
	Decide(policy.Navigation) policy.Decision
	// Ask asks the person and waits for the answer. When ctx ends the question is withdrawn.
	Ask(ctx context.Context, r Request) Verdict
}

// Visit is a page that an agent's tab showed.
type Visit struct {
	ID    int64     `json:"id"`
	At    time.Time `json:"at"`
	Agent ids.Agent `json:"agent"`
	URL   string    `json:"url"`
	Title string    `json:"title"`
}

// Journal takes down what happens in windows. Neither method may block.
type Journal interface {
	Note(d event.Draft)
	Visit(v Visit)
}

// Options is what a Service is made with. All fields but Flags are required.
type Options struct {
	// Find returns the Chromium to use.
	Find func() (chrome.Install, error)
	// Dir is where the agents' profiles are, one directory an agent.
	Dir string
	// Flags are added to Chromium's command line; for tests only.
	Flags   []string
	Gate    Gate
	Journal Journal
	Log     *slog.Logger
	Now     func() time.Time
	// Pressed is told when the person presses "pause", "resume" or "stop" on a window's sign. It must not block.
	Pressed func(agent ids.Agent, button string)
}

// maxTabs bounds the tabs of one window; a page that opens more has them closed.
const maxTabs = 30

// Service keeps the windows.
type Service struct {
	o Options

	mu      sync.Mutex
	windows map[ids.Agent]*window
	closed  bool
}

// New returns a Service without windows.
func New(o Options) *Service { return &Service{o: o, windows: map[ids.Agent]*window{}} }

// Open makes the agent's window known under session. No Chromium starts yet.
func (s *Service) Open(agent ids.Agent, session ids.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.windows[agent]; w != nil {
		return
	}
	s.windows[agent] = newWindow(s, agent, session)
}

// Lanes returns the order of calls on the agent's window.
func (s *Service) Lanes(agent ids.Agent) *action.Lanes {
	if w := s.window(agent); w != nil {
		return w.lanes
	}
	// The agent left while its line was read; its call is refused by admission.
	return action.NewLanes(func() ids.Tab { return 0 })
}

func (s *Service) window(agent ids.Agent) *window {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.windows[agent]
}

// Close closes the agent's window now, if it has one open. A later action opens
// a fresh one.
func (s *Service) Close(ctx context.Context, agent ids.Agent) bool {
	w := s.window(agent)
	return w != nil && w.close(ctx)
}

// CloseSession closes the window of session; fault.NotFound when there is none.
func (s *Service) CloseSession(ctx context.Context, session ids.Session) error {
	w, err := s.bySession(session)
	if err != nil {
		return err
	}
	w.close(ctx)
	return nil
}

func (s *Service) bySession(session ids.Session) (*window, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.windows {
		if w.session == session {
			return w, nil
		}
	}
	return nil, fault.New(fault.NotFound, "there is no session %q", session)
}

// Forget closes the agent's window and drops it; with erase its profile goes too.
func (s *Service) Forget(ctx context.Context, agent ids.Agent, erase bool) {
	w := s.window(agent)
	if w == nil {
		return
	}
	w.close(ctx)
	s.mu.Lock()
	delete(s.windows, agent)
	s.mu.Unlock()
	if erase {
		if err := os.RemoveAll(filepath.Dir(w.profile())); err != nil {
			s.o.Log.Warn("profile not removed", "agent", agent, "err", err)
		}
	}
}

// Shutdown closes all windows and starts no more: fault.BrowserDisposing.
func (s *Service) Shutdown(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	windows := make([]*window, 0, len(s.windows))
	for _, w := range s.windows {
		windows = append(windows, w)
	}
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, w := range windows {
		wg.Go(func() { w.close(ctx) })
	}
	wg.Wait()
}

// Status is where a session is in its life.
type Status string

// The statuses of a session.
const (
	Starting Status = "starting"
	Ready    Status = "ready"
	Busy     Status = "busy"
	Closing  Status = "closing"
	Closed   Status = "closed"
	Crashed  Status = "crashed"
)

// Values lists the statuses, for schemas.
func (Status) Values() []string {
	return []string{string(Starting), string(Ready), string(Busy), string(Closing), string(Closed), string(Crashed)}
}

// TabStatus is where a tab is in its life.
type TabStatus string

// The statuses of a tab.
const (
	TabOpening TabStatus = "opening"
	TabLoading TabStatus = "loading"
	TabIdle    TabStatus = "idle"
	TabClosed  TabStatus = "closed"
)

// Values lists the statuses, for schemas.
func (TabStatus) Values() []string {
	return []string{string(TabOpening), string(TabLoading), string(TabIdle), string(TabClosed)}
}

// Tab is what there is to say of a tab.
type Tab struct {
	TabID  ids.Tab   `json:"tabId"`
	URL    string    `json:"url"`
	Title  string    `json:"title"`
	Status TabStatus `json:"status"`
	Active bool      `json:"active"`
	// Controlled is false for a tab that the person opened: agents neither see nor touch it.
	Controlled      bool             `json:"controlled"`
	Crashed         bool             `json:"crashed,omitempty" jsonschema:"the page's process has died; reload or navigate brings it back"`
	Dialog          *Dialog          `json:"dialog,omitempty"`
	PendingApproval *PendingApproval `json:"pendingApproval,omitempty"`
}

// Dialog is a dialog that a page has open.
type Dialog struct {
	Type    string `json:"type" jsonschema:"alert, confirm, prompt or beforeunload"`
	Message string `json:"message"`
}

// PendingApproval is a navigation that waits for the person.
type PendingApproval struct {
	Question ids.Question  `json:"question"`
	Origin   policy.Origin `json:"origin" jsonschema:"the origin that would be opened"`
	URL      string        `json:"url"`
	Since    time.Time     `json:"since"`
}

// Session is what there is to say of an agent's window.
type Session struct {
	Session     ids.Session `json:"session"`
	Agent       ids.Agent   `json:"agent"`
	Status      Status      `json:"status"`
	StartedAt   *time.Time  `json:"startedAt,omitempty"`
	Tabs        []Tab       `json:"tabs"`
	ActiveTabID ids.Tab     `json:"activeTabId,omitempty"`
	PID         int         `json:"chromiumPid,omitempty"`
	Error       string      `json:"error,omitempty" jsonschema:"why the window could not start, or how it ended"`
}

// Sessions returns the windows of all agents, by agent.
func (s *Service) Sessions() []Session {
	s.mu.Lock()
	windows := make([]*window, 0, len(s.windows))
	for _, w := range s.windows {
		windows = append(windows, w)
	}
	s.mu.Unlock()
	out := make([]Session, 0, len(windows))
	for _, w := range windows {
		out = append(out, w.view())
	}
	slices.SortFunc(out, func(a, b Session) int { return strings.Compare(string(a.Agent), string(b.Agent)) })
	return out
}

// SetSign shows state ("active" or "paused") on the agent's window.
func (s *Service) SetSign(agent ids.Agent, state string) {
	if w := s.window(agent); w != nil {
		w.setSign(func(sign *page.Sign) { sign.State = state })
	}
}

// Enforce closes nothing, but moves every tab that shows a blocked origin off
// it, after a rule has changed: a block holds for what is open too.
func (s *Service) Enforce() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.windows {
		w.enforce()
	}
}

// VisitQuery chooses visits, newest first.
type VisitQuery struct {
	// Text is looked for in address and title; case does not matter for ASCII letters.
	Text string
	// Before chooses visits with a smaller ID; 0 begins with the newest.
	Before int64
	// Limit is how many; at most 1,000, and 100 if it is 0.
	Limit int
}
