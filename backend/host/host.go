// Package host builds the whole: the ledger, the services, the path of a call,
// the agents' door, and runs them in tiers.
//
// It states what one service's events do to another (reactions.go) and what
// each station of the path asks (path.go). The person's side is a value,
// People, that only the program which made the host holds: no socket, command
// or flag leads to it.
package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/agent"
	"chaperone/backend/approval"
	"chaperone/backend/browser"
	"chaperone/backend/catalog"
	"chaperone/backend/chrome"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/ledger"
	"chaperone/backend/rules"
	"chaperone/backend/serve/line"
	"chaperone/backend/setting"
	"chaperone/backend/tiers"

	"github.com/thejerf/suture/v4"
)

// The kinds of host.
const (
	// App has a window in which a person can answer.
	App = "app"
	// Serve has none: whatever would be asked is refused.
	Serve = "serve"
)

// Options says what host to build. The zero value is an app's in the user's own directories.
type Options struct {
	Version string
	// Kind is App or Serve; default App.
	Kind string
	// Home overrides where everything is kept; default by the environment.
	Home string
	// Chromium overrides which browser is used; default CHAPERONE_CHROMIUM, else what is found.
	Chromium string
	// Flags are added to Chromium's command line; for tests only.
	Flags []string
	// Log is for the host's own troubles; default a file and stderr by the caller's choice, else discarded.
	Log *slog.Logger
	// Rows bounds the audit log; default 20,000.
	Rows int
	// Idle ends Run, without an error, when no agent has been connected for so long; 0 is never.
	Idle time.Duration
}

// stopTime bounds the end of everything.
const stopTime = 10 * time.Second

// Host is the whole. Make one with New, run it once with Run.
type Host struct {
	o         Options
	paths     setting.Paths
	log       *slog.Logger
	now       func() time.Time
	startedAt time.Time
	bus       event.Bus
	statuses  tiers.Statuses
	approvals *approval.Service
	ready     chan struct{}
	up        atomic.Bool
	whole     atomic.Pointer[whole]
	chromium  lookup
}

// whole is what Run builds on an open ledger.
type whole struct {
	h          *Host
	ledger     *ledger.Ledger
	agents     *agent.Service
	approvals  *approval.Service
	browsers   *browser.Service
	rules      *rules.Service
	journal    *journal
	dispatcher *action.Dispatcher
	tasks      sync.WaitGroup
}

// New prepares a host; nothing is created or started.
func New(o Options) (*Host, error) {
	if o.Kind == "" {
		o.Kind = App
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	env := os.Getenv
	if o.Home != "" {
		env = func(name string) string {
			if name == "CHAPERONE_HOME" {
				return o.Home
			}
			return os.Getenv(name)
		}
	}
	if o.Chromium == "" {
		o.Chromium = os.Getenv("CHAPERONE_CHROMIUM")
	}
	h := &Host{o: o, paths: setting.PathsFrom(env), log: o.Log, now: time.Now, ready: make(chan struct{})}
	h.approvals = approval.New(late{h}, h.now)
	return h, nil
}

// late is the log of a host whose ledger is opened later.
type late struct{ h *Host }

var errNotUp = fault.New(fault.BrowserDisposing, "Chaperone is not up")

func (l late) Append(ctx context.Context, drafts ...event.Draft) error {
	if w := l.h.whole.Load(); w != nil {
		return w.ledger.Append(ctx, drafts...)
	}
	return errNotUp
}

func (l late) After(ctx context.Context, seq int64, limit int) ([]event.Event, error) {
	if w := l.h.whole.Load(); w != nil {
		return w.ledger.After(ctx, seq, limit)
	}
	return nil, errNotUp
}

func (l late) Last(ctx context.Context) (int64, error) {
	if w := l.h.whole.Load(); w != nil {
		return w.ledger.Last(ctx)
	}
	return 0, errNotUp
}

// Paths returns where the host keeps things.
func (h *Host) Paths() setting.Paths { return h.paths }

// Ready is closed once agents can come in.
func (h *Host) Ready() <-chan struct{} { return h.ready }

// Attend says that a person is there to answer, until leave is called.
func (h *Host) Attend() (leave func()) { return h.approvals.Attend() }

// Run is the host's life: it returns nil when ctx has ended and everything has
// stopped. It fails when another host runs, or when the ledger cannot be opened.
func (h *Host) Run(ctx context.Context) (err error) {
	h.startedAt = h.now()
	release, err := line.Claim(h.paths, line.Host{PID: os.Getpid(), Kind: h.o.Kind, Version: h.o.Version, StartedAt: h.startedAt, Socket: h.paths.Socket})
	if err != nil {
		return err
	}
	defer release()
	l, err := ledger.Open(ctx, h.paths.Ledger, &h.bus, ledger.Options{Now: h.now, Log: h.log, Rows: h.o.Rows})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	w, err := h.build(ctx, l)
	if err != nil {
		return err
	}
	h.whole.Store(w)
	defer h.whole.Store(nil)
	if err := l.Append(ctx, event.Draft{Category: "host.started", Data: map[string]any{"kind": h.o.Kind, "version": h.o.Version, "pid": os.Getpid()}}); err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer end(nil)
	if h.o.Idle > 0 {
		watch.Go(func() { w.leaveIdle(ctx, end) })
	}
	err = tiers.Run(ctx, tiers.Options{Log: h.log, Stop: stopTime, OnChange: h.changed},
		tiers.Tier{Name: "ledger", Services: []suture.Service{tiers.Func("journal", w.journal.serve)}},
		tiers.Tier{Name: "browsers", Services: []suture.Service{tiers.Func("windows", w.windows)}},
		tiers.Tier{Name: "services", Services: []suture.Service{tiers.Func("reactions", w.react)}},
		tiers.Tier{Name: "doors", Services: []suture.Service{&line.Socket{Path: h.paths.Socket, Door: w.door()}}},
	)
	if context.Cause(ctx) == errIdle && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (h *Host) changed(tier string, status tiers.Status, err error) {
	h.statuses.Set(tier, status, err)
	if tier == "doors" && status == tiers.Up && h.up.CompareAndSwap(false, true) {
		close(h.ready)
	}
}

func (h *Host) build(ctx context.Context, l *ledger.Ledger) (*whole, error) {
	w := &whole{h: h, ledger: l, approvals: h.approvals, journal: newJournal(l, h.log)}
	var err error
	if w.rules, err = rules.Load(ctx, l, h.now, w.rulesChanged); err != nil {
		return nil, err
	}
	w.browsers = browser.New(browser.Options{
		Find: h.chromium.find(h.o.Chromium), Dir: h.paths.Agents, Flags: h.o.Flags, Gate: gate{w}, Journal: w.journal,
		Log: h.log, Now: h.now, Pressed: w.pressed,
	})
	w.agents = agent.New(l, l, h.now, func(ctx context.Context, name ids.Agent, named bool) { w.browsers.Forget(ctx, name, !named) })
	w.dispatcher = action.NewDispatcher(catalog.Bind(&catalog.Services{
		Browser: w.browsers, Agents: w.agents, Approvals: w.approvals, Rules: w.rules, Account: l, House: w,
	}), action.Path{Line: w.browsers.Lanes, Record: w.record, Admit: w.admit, Decide: w.decide, Hold: w.hold}, h.now)
	return w, nil
}

// windows sweeps what an earlier host left behind, and closes all windows at the end.
func (w *whole) windows(ctx context.Context, ready func()) error {
	if ended, err := chrome.Sweep(w.h.paths.Agents); err != nil {
		w.h.log.Warn("leftovers of an earlier run were not all removed", "err", err)
	} else if len(ended) > 0 {
		w.h.log.Info("ended leftover browsers", "pids", ended)
	}
	w.h.sweepFresh(ctx, w.ledger)
	ready()
	<-ctx.Done()
	cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime/2)
	defer cancel()
	w.browsers.Shutdown(cctx)
	w.tasks.Wait()
	return ctx.Err()
}

// sweepFresh removes the profiles of agents without a name of their own, which
// an earlier host did not live to remove.
func (h *Host) sweepFresh(ctx context.Context, l *ledger.Ledger) {
	entries, err := os.ReadDir(h.paths.Agents)
	if err != nil {
		return // there are none yet
	}
	for _, e := range entries {
		rec, known, err := l.Agent(ctx, ids.Agent(e.Name()))
		if err == nil && known && !rec.Named {
			if err := os.RemoveAll(filepath.Join(h.paths.Agents, e.Name())); err != nil {
				h.log.Warn("profile not removed", "agent", e.Name(), "err", err)
			}
		}
	}
}

func (w *whole) door() *line.Door {
	return &line.Door{Dispatcher: w.dispatcher, Agents: entrance{w}, Log: w.ledger, Bus: &w.h.bus, Version: w.h.o.Version, Status: w.status, Notes: w.h.log}
}

// entrance lets agents in.
type entrance struct{ w *whole }

// Connect implements line.Agents.
func (e entrance) Connect(ctx context.Context, name ids.Agent) (agent.Connected, error) {
	c, err := e.w.agents.Connect(ctx, name)
	if err == nil {
		e.w.browsers.Open(c.Agent, c.Session)
	}
	return c, err
}

func (w *whole) status() line.Status {
	s := line.Status{Kind: w.h.o.Kind, PID: os.Getpid(), Version: w.h.o.Version, StartedAt: w.h.startedAt, Attended: w.approvals.Attended()}
	for _, a := range w.agents.List() {
		if a.Connected {
			s.Agents++
		}
	}
	for _, b := range w.browsers.Sessions() {
		if b.StartedAt != nil {
			s.Sessions++
		}
	}
	return s
}

// lookup finds Chromium once and remembers the answer while it holds.
type lookup struct {
	mu    sync.Mutex
	found chrome.Install
}

func (l *lookup) find(override string) func() (chrome.Install, error) {
	return func() (chrome.Install, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.found.Path != "" {
			if _, err := os.Stat(l.found.Path); err == nil {
				return l.found, nil
			}
		}
		found, err := chrome.Find(override)
		l.found = found
		return found, err
	}
}

// version returns Chromium's version, asking it the first time.
func (l *lookup) version(ctx context.Context) string {
	l.mu.Lock()
	found := l.found
	l.mu.Unlock()
	if found.Version != "" || found.Path == "" {
		return found.Version
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	with, err := found.ReadVersion(ctx)
	if err != nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found = with
	return with.Version
}

// String names the host in logs.
func (h *Host) String() string { return fmt.Sprintf("chaperone %s %s", h.o.Kind, h.o.Version) }
