package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/chrome"
	"chaperone/backend/desktop"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/page"
)

const (
	// startTime bounds the start of a Chromium; a cold one on a loaded machine takes seconds.
	startTime = 40 * time.Second
	// closeTime bounds its end.
	closeTime = 5 * time.Second
)

// A window is one agent's, over as many lives of Chromium as it takes.
type window struct {
	s       *Service
	agent   ids.Agent
	session ids.Session
	lanes   *action.Lanes

	mu      sync.Mutex
	life    *life // nil while no Chromium runs
	start   *start
	status  Status // while life is nil
	problem string
	nextTab ids.Tab
	sign    page.Sign
}

// A start is a Chromium on its way up; those who need it wait for done.
type start struct {
	done   chan struct{}
	cancel context.CancelFunc
	life   *life
	err    error
}

func newWindow(s *Service, agent ids.Agent, session ids.Session) *window {
	w := &window{s: s, agent: agent, session: session, status: Closed, sign: page.Sign{Agent: string(agent), State: "active"}}
	w.lanes = action.NewLanes(w.selected)
	return w
}

func (w *window) profile() string { return filepath.Join(w.s.o.Dir, string(w.agent), "profile") }

func (w *window) selected() ids.Tab {
	w.mu.Lock()
	l := w.life
	w.mu.Unlock()
	if l == nil {
		return 0
	}
	return l.selectedTab()
}

// ensure returns the running life, starting one when there is none. The start
// goes on when ctx ends: the next call needs it too.
func (w *window) ensure(ctx context.Context) (*life, error) {
	w.s.mu.Lock()
	closed := w.s.closed
	w.s.mu.Unlock()
	if closed {
		return nil, fault.New(fault.BrowserDisposing, "Chaperone is closing and starts nothing new")
	}
	w.mu.Lock()
	for w.life != nil {
		l := w.life
		w.mu.Unlock()
		if !l.isClosing() {
			return l, nil
		}
		select { // bounded by closeTime
		case <-l.over:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		w.mu.Lock()
	}
	st := w.start
	if st == nil {
		sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTime)
		st = &start{done: make(chan struct{}), cancel: cancel}
		w.start = st
		w.status, w.problem = Starting, ""
		go w.launch(sctx, st) // ends with st.done, which close waits for
	}
	w.mu.Unlock()
	select {
	case <-st.done:
		return st.life, st.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (w *window) launch(ctx context.Context, st *start) {
	defer st.cancel()
	w.note("browser.session.created", nil)
	l, err := w.begin(ctx)
	w.mu.Lock()
	if err != nil {
		w.status, w.problem = Closed, fault.From(err).Message
	} else {
		w.life = l
	}
	w.start = nil
	st.life, st.err = l, err
	close(st.done)
	w.mu.Unlock()
	if err != nil {
		w.s.o.Log.Warn("window not started", "agent", w.agent, "err", err)
		w.note("browser.session.closed", map[string]any{"error": string(fault.From(err).Code)})
		return
	}
	w.note("browser.session.ready", map[string]any{"pid": l.chrome.PID()})
	go l.watch()
}

func (w *window) begin(ctx context.Context) (*life, error) {
	if err := chrome.Display(os.Getenv); err != nil {
		return nil, err
	}
	install, err := w.s.o.Find()
	if err != nil {
		return nil, err
	}
	l := newLife(w)
	l.door = desktop.Open(os.Getenv, w.s.o.Log)
	b, err := chrome.Launch(ctx, chrome.Options{Install: install, Profile: w.profile(), Flags: w.s.o.Flags,
		Display: l.door.Display(), Handler: l.handle})
	if err != nil {
		l.door.Close()
		return nil, err
	}
	if err := l.open(ctx, b); err != nil {
		cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer cancel()
		_ = b.Close(cctx)
		l.door.Close()
		l.ending(errGone)
		l.wg.Wait()
		return nil, fault.New(fault.BrowserLaunchFailed, "Chromium started but its window did not open").Because(err)
	}
	return l, nil
}

// ended is called by the life's watcher when its Chromium has ended.
func (w *window) ended(l *life, status Status, problem string) {
	w.mu.Lock()
	if w.life == l {
		w.life, w.status, w.problem = nil, status, problem
	}
	w.mu.Unlock()
	close(l.over)
	if status == Crashed {
		w.note("browser.session.crashed", map[string]any{"how": problem})
	} else {
		w.note("browser.session.closed", nil)
	}
}

// close ends the running life, or the start of one, and waits. It reports
// whether there was one.
func (w *window) close(ctx context.Context) bool {
	w.mu.Lock()
	st, l := w.start, w.life
	w.mu.Unlock()
	if st != nil {
		st.cancel()
		<-st.done // bounded by the cancelled start
		l = st.life
	}
	if l == nil {
		return st != nil
	}
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	l.close(ctx)
	select {
	case <-l.over:
	case <-ctx.Done():
	}
	return true
}

func (w *window) view() Session {
	w.mu.Lock()
	l := w.life
	v := Session{Session: w.session, Agent: w.agent, Status: w.status, Error: w.problem, Tabs: []Tab{}}
	w.mu.Unlock()
	if l != nil {
		l.describe(&v)
		if v.Status == Ready && w.lanes.Waiting() > 0 {
			v.Status = Busy
		}
	}
	return v
}

// place returns where the window opens, in pixels: a step from the one that
// another agent has open, so that none lies exactly on another.
func (w *window) place() (left, top int) {
	const step, places = 32, 8
	w.s.mu.Lock()
	others := make([]*window, 0, len(w.s.windows))
	for _, o := range w.s.windows {
		if o != w {
			others = append(others, o)
		}
	}
	w.s.mu.Unlock()
	n := 0
	for _, o := range others {
		o.mu.Lock()
		if o.life != nil {
			n++
		}
		o.mu.Unlock()
	}
	return 16 + n%places*step, 16 + n%places*step
}

func (w *window) newTabID() ids.Tab {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nextTab++
	return w.nextTab
}

func (w *window) setSign(change func(*page.Sign)) {
	w.mu.Lock()
	before := w.sign
	change(&w.sign)
	sign, l := w.sign, w.life
	w.mu.Unlock()
	if l != nil && sign != before {
		for _, t := range l.controlled() {
			t.page.SetSign(sign)
		}
	}
}

func (w *window) currentSign() page.Sign {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sign
}

func (w *window) enforce() {
	w.mu.Lock()
	l := w.life
	w.mu.Unlock()
	if l == nil {
		return
	}
	for _, t := range l.controlled() {
		l.evict(t)
	}
}

// note writes an event about this window to the journal.
func (w *window) note(category string, data map[string]any) {
	if data == nil {
		data = map[string]any{}
	}
	w.s.o.Journal.Note(event.Draft{Category: category, Subject: string(w.session), Agent: w.agent, Data: data})
}

func endOf(e chrome.Exit) (Status, string) {
	switch {
	case e.Asked, e.Signal == "" && e.Code == 0:
		return Closed, ""
	case e.Signal != "":
		return Crashed, fmt.Sprintf("Chromium ended by signal %s", e.Signal)
	}
	return Crashed, fmt.Sprintf("Chromium ended with code %d", e.Code)
}
