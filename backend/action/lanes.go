package action

import (
	"context"
	"slices"
	"sync"

	"chaperone/backend/ids"
)

// Lanes orders the calls on one window: those on one tab in the order of their
// arrival, those on different tabs side by side. A call that names no tab, and
// one that opens, closes or selects tabs, is a barrier: it waits for all before
// it, and all after it wait for it.
//
// A read does not wait behind a person who thinks: it gets its turn at once, is
// told so by Turn.Early, and its own clock runs.
type Lanes struct {
	selected func() ids.Tab

	mu   sync.Mutex
	line []*Turn
	held map[ids.Tab]int
}

// NewLanes returns empty lanes. selected returns the tab that is selected now,
// 0 for none; it must not block.
func NewLanes(selected func() ids.Tab) *Lanes {
	return &Lanes{selected: selected, held: map[ids.Tab]int{}}
}

// A Turn is one call's place in line.
type Turn struct {
	lanes   *Lanes
	tab     ids.Tab
	barrier bool
	named   bool
	reads   bool
	budget  *Budget

	ready chan struct{}
	// Both are written under the lanes' lock before ready is closed.
	granted, early bool
}

// Join takes the next place in line for a call of s that names tab, or none (0).
func (l *Lanes) Join(s *Spec, tab ids.Tab) *Turn {
	t := &Turn{lanes: l, tab: tab, barrier: tab == 0 || s.Tab == Lifecycle, named: tab != 0, reads: s.Effect == Reads, ready: make(chan struct{})}
	if t.tab == 0 {
		t.tab = l.selected()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line = append(l.line, t)
	l.grant()
	return t
}

// attach gives the turn the budget of its call, so that a tab that is held for
// the person stops its clock.
func (t *Turn) attach(b *Budget) {
	l := t.lanes
	b.changed = l.review
	l.mu.Lock()
	t.budget = b
	waits := l.held[t.tab]
	if t.early {
		b.Steady()
	}
	l.mu.Unlock()
	for range waits {
		b.Pause()
	}
}

// Tab returns the tab that the call works on, 0 for none.
func (t *Turn) Tab() ids.Tab { return t.tab }

// Named reports whether the call itself named its tab.
func (t *Turn) Named() bool { return t.named }

// Early reports whether the turn came before those ahead had finished, because
// a person thinks. Only a read's turn can; it must not disturb the page.
func (t *Turn) Early() bool {
	t.lanes.mu.Lock()
	defer t.lanes.mu.Unlock()
	return t.early
}

// Wait returns when it is the call's turn. Those ahead are bounded by their own
// budgets, so this wait is bounded too.
func (t *Turn) Wait(ctx context.Context) error {
	select {
	case <-t.ready:
		return nil
	default:
	}
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Leave gives the place up. A second call does nothing.
func (t *Turn) Leave() {
	l := t.lanes
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.line, t); i >= 0 {
		l.line = slices.Delete(l.line, i, i+1)
		l.grant()
	}
}

// Hold says that tab waits for the person; the budgets of all calls on it stand
// still until as many calls of Release follow, and reads get their turn at once.
func (l *Lanes) Hold(tab ids.Tab) { l.hold(tab, 1) }

// Release takes one Hold back; without one it does nothing.
func (l *Lanes) Release(tab ids.Tab) { l.hold(tab, -1) }

func (l *Lanes) hold(tab ids.Tab, n int) {
	l.mu.Lock()
	if l.held[tab]+n < 0 {
		l.mu.Unlock()
		return
	}
	l.held[tab] += n
	if l.held[tab] == 0 {
		delete(l.held, tab)
	}
	var budgets []*Budget
	for _, t := range l.line {
		if t.tab == tab && t.budget != nil {
			budgets = append(budgets, t.budget)
		}
	}
	l.mu.Unlock()
	for _, b := range budgets {
		if n > 0 {
			b.Pause()
		} else {
			b.Resume()
		}
	}
	l.review()
}

// Waiting returns how many calls are in line, those that run included.
func (l *Lanes) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.line)
}

func (l *Lanes) review() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grant()
}

// grant gives their turn to all whom nobody ahead stands in the way of. The lock is held.
func (l *Lanes) grant() {
	for i, t := range l.line {
		if t.granted {
			continue
		}
		free, thinking := true, false
		for _, ahead := range l.line[:i] {
			if ahead.early || !(ahead.barrier || t.barrier || ahead.tab == t.tab) {
				continue
			}
			free = false
			if ahead.budget != nil && ahead.budget.Paused() {
				thinking = true
			}
		}
		if free || (t.reads && thinking) {
			t.granted, t.early = true, !free
			if t.early && t.budget != nil {
				t.budget.Steady()
			}
			close(t.ready)
		}
	}
}

// Move says that the call now works on tab, which it has opened: what holds
// that tab stops the call's clock too.
func (t *Turn) Move(tab ids.Tab) {
	l := t.lanes
	l.mu.Lock()
	before, after := l.held[t.tab], l.held[tab]
	t.tab = tab
	b := t.budget
	l.mu.Unlock()
	if b == nil {
		return
	}
	for range after {
		b.Pause()
	}
	for range before {
		b.Resume()
	}
}
