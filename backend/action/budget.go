package action

import (
	"context"
	"sync"
	"time"

	"chaperone/backend/fault"
)

// A Budget is the time that a call may take, with a clock that can be stopped:
// while a person thinks, an agent's deadline does not run.
type Budget struct {
	mu      sync.Mutex
	left    time.Duration
	since   time.Time // when the clock last started; zero while it stands still
	pauses  int
	steady  bool // runs whatever pauses there are
	started bool
	timer   *time.Timer
	cancel  context.CancelCauseFunc
	changed func()
}

// NewBudget returns a budget of d that has not started.
func NewBudget(d time.Duration) *Budget { return &Budget{left: d} }

// Start starts the clock and returns a context that ends, with a
// fault.BrowserTimeout as its cause, when the budget is spent. stop must be called.
func (b *Budget) Start(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.started, b.cancel = true, cancel
	b.run()
	return ctx, func() {
		b.mu.Lock()
		b.halt()
		b.started = false
		b.mu.Unlock()
		cancel(context.Canceled)
	}
}

// Pause stops the clock until as many calls of Resume follow.
func (b *Budget) Pause() {
	b.mu.Lock()
	b.pauses++
	if b.paused() { // a Resume may have come first
		b.halt()
	}
	changed := b.changed
	b.mu.Unlock()
	if changed != nil {
		changed()
	}
}

// Resume takes one Pause back.
func (b *Budget) Resume() {
	b.mu.Lock()
	b.pauses--
	b.run()
	changed := b.changed
	b.mu.Unlock()
	if changed != nil {
		changed()
	}
}

// Paused reports whether the clock stands still because a person thinks.
func (b *Budget) Paused() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.paused()
}

// Steady says that no pause stops the clock: the call does not wait for the person.
func (b *Budget) Steady() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.steady = true
	b.run()
}

func (b *Budget) paused() bool { return b.pauses > 0 && !b.steady }

// Limit cuts what is left to at most d.
func (b *Budget) Limit(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	running := !b.since.IsZero()
	b.halt()
	b.left = min(b.left, d)
	if running {
		b.run()
	}
}

// run starts the clock if nothing holds it. The lock is held.
func (b *Budget) run() {
	if !b.started || b.paused() || !b.since.IsZero() {
		return
	}
	b.since = time.Now()
	b.timer = time.AfterFunc(b.left, func() {
		b.cancel(fault.New(fault.BrowserTimeout, "the time for this call ran out").
			WithHint("Look at the page with get_browser_state before you repeat it.").
			WithEffect(fault.EffectUnknown))
	})
}

// halt stops the clock and notes what is left. The lock is held.
func (b *Budget) halt() {
	if b.since.IsZero() {
		return
	}
	b.timer.Stop()
	b.left -= time.Since(b.since)
	b.since = time.Time{}
}
