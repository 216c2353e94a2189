package tiers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/thejerf/suture/v4"
)

// After more than storm failures in about half a minute a tier rests for
// storm pause, so that a service that cannot start does not burn the machine.
const (
	storm      = 5
	stormDecay = 30 // seconds
	stormPause = 15 * time.Second
)

// A runner is one Run. Only Run's own goroutine touches it; services and
// supervisors speak to it by notes.
type runner struct {
	Options
	tiers []Tier
	up    []*running
	notes chan note
}

// running is a tier that was started.
type running struct {
	name     string
	services []*service
	cancel   context.CancelFunc
	done     <-chan error
	status   Status
	lastErr  error
}

func (t *running) ready() bool {
	return !slices.ContainsFunc(t.services, func(s *service) bool { return !s.ready })
}

type noteKind int

const (
	noteReady   noteKind = iota // the service can be leaned on
	noteFailed                  // the service failed and waits until nothing leans on it
	noteFatal                   // the service gave up for good
	noteStorm                   // the tier failed too often and rests
	noteResumed                 // the tier has rested
)

type note struct {
	kind    noteKind
	tier    *running
	service *service
	err     error
	// cleared is closed when what stands on the tier is down.
	cleared chan struct{}
}

// tell hands n to the runner, or gives up when ctx, the teller's own, ends.
func (r *runner) tell(ctx context.Context, n note) {
	select {
	case r.notes <- n:
	case <-ctx.Done():
	}
}

// watch starts tiers and hears notes until ctx ends or nothing more can be done.
func (r *runner) watch(ctx context.Context) error {
	for {
		for len(r.up) < len(r.tiers) && (len(r.up) == 0 || r.up[len(r.up)-1].ready()) && ctx.Err() == nil {
			r.start(ctx, r.tiers[len(r.up)])
		}
		select {
		case <-ctx.Done():
			return nil
		case n := <-r.notes:
			if err := r.hear(n); err != nil {
				return err
			}
		}
	}
}

func (r *runner) hear(n note) error {
	switch n.kind {
	case noteReady:
		n.service.ready = true
		if n.tier.ready() {
			r.set(n.tier, Up, nil)
		}
	case noteFailed:
		r.logFailure(n)
		n.service.ready = false
		r.set(n.tier, Restarting, n.err)
		if err := r.stop(slices.Index(r.up, n.tier) + 1); err != nil {
			// Two copies of a service must not run at once, so there is no way on.
			return err
		}
		close(n.cleared)
	case noteFatal:
		return fmt.Errorf("%s: %w", n.service.name, n.err)
	case noteStorm:
		r.Log.Error("a tier fails too often and rests", "tier", n.tier.name, "pause", stormPause)
		r.set(n.tier, Failing, n.tier.lastErr)
	case noteResumed:
		r.set(n.tier, Starting, nil)
	}
	return nil
}

func (r *runner) logFailure(n note) {
	log := r.Log.With("tier", n.tier.name, "service", n.service.name, "err", n.err)
	if p, ok := errors.AsType[*panicked](n.err); ok {
		log = log.With("stack", string(p.stack))
	}
	log.Error("a service failed")
}

func (r *runner) set(t *running, s Status, err error) {
	if err != nil {
		t.lastErr = err
	}
	if t.status == s && err == nil {
		return
	}
	t.status = s
	r.OnChange(t.name, s, err)
}

func (r *runner) start(ctx context.Context, tier Tier) {
	// Not ctx itself: a tier outlives its end until its own turn to stop comes.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t := &running{name: tier.Name, cancel: cancel}
	sup := suture.New(tier.Name, suture.Spec{
		FailureThreshold: storm, FailureDecay: stormDecay, FailureBackoff: stormPause,
		BackoffJitter: suture.NoJitter{}, Timeout: r.Stop,
		EventHook: func(e suture.Event) {
			switch e.Type() {
			case suture.EventTypeBackoff:
				r.tell(ctx, note{kind: noteStorm, tier: t})
			case suture.EventTypeResume:
				r.tell(ctx, note{kind: noteResumed, tier: t})
			}
		},
	})
	for _, inner := range tier.Services {
		s := &service{name: serviceName(inner), inner: inner}
		s.tell = func(ctx context.Context, kind noteKind, err error) <-chan struct{} {
			cleared := make(chan struct{})
			r.tell(ctx, note{kind, t, s, err, cleared})
			return cleared
		}
		t.services = append(t.services, s)
		sup.Add(s)
	}
	r.up = append(r.up, t)
	r.set(t, Starting, nil)
	t.done = sup.ServeBackground(ctx)
	if t.ready() { // a tier of no services
		r.set(t, Up, nil)
	}
}

// stop takes down the tiers from index base upwards, the highest first, within
// r.Stop. A tier keeps a share of the time for each one below it, so that a
// laggard does not take the ledger's time to close.
func (r *runner) stop(base int) error {
	deadline := time.Now().Add(r.Stop)
	share := r.Stop / time.Duration(2*max(1, len(r.tiers)))
	var late error
	for i := len(r.up) - 1; i >= base; i-- {
		t := r.up[i]
		r.set(t, Stopping, nil)
		t.cancel()
		timer := time.NewTimer(time.Until(deadline.Add(-share * time.Duration(i-base))))
		select {
		case <-t.done:
			r.set(t, Down, nil)
		case <-timer.C:
			err := fmt.Errorf("tier %s did not stop in time: %s", t.name, strings.Join(t.laggards(), ", "))
			r.Log.Error("a service did not stop", "tier", t.name, "services", t.laggards())
			late = errors.Join(late, err)
		}
		timer.Stop()
	}
	r.up = slices.Delete(r.up, base, len(r.up))
	return late
}

func (t *running) laggards() []string {
	var names []string
	for _, s := range t.services {
		if s.running.Load() {
			names = append(names, s.name)
		}
	}
	return names
}
