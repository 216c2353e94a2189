// Package tiers runs the services of a program in order, one tier on another.
//
// Run starts tiers bottom up, each when the one below it is ready, and stops
// them top down within one bound for all. Inside a tier suture restarts what
// fails. A panic or an error is therefore never the end of the program: the
// service is started again, and what stands on its tier goes down before that
// and comes back after it, so that nothing above ever leans on a service that
// is not there.
//
// The package knows nothing of what the services do.
package tiers

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/thejerf/suture/v4"
)

// A Tier is a set of services that start and stop together, and of which none
// leans on another.
type Tier struct {
	Name     string
	Services []suture.Service
}

// A Readier is a service that says itself when others may lean on it. Run calls
// ServeReady in place of Serve; what stands on its tier waits until it has
// called ready. A service that is no Readier is ready as soon as it starts.
type Readier interface {
	ServeReady(ctx context.Context, ready func()) error
}

// Func returns a service named name that is a Readier. serve runs until its
// context ends, and may be called again after it has failed, never twice at
// once. It must not use ready after it has returned.
func Func(name string, serve func(ctx context.Context, ready func()) error) suture.Service {
	return function{name, serve}
}

type function struct {
	name  string
	serve func(ctx context.Context, ready func()) error
}

func (f function) String() string                  { return f.name }
func (f function) Serve(ctx context.Context) error { return f.serve(ctx, func() {}) }
func (f function) ServeReady(ctx context.Context, ready func()) error {
	return f.serve(ctx, ready)
}

// Done is what a service returns that has finished for good and is not missed.
func Done() error { return suture.ErrDoNotRestart }

// Fatal marks err as one that no restart can mend. A service that returns it
// ends Run, which stops everything in order and returns err.
func Fatal(err error) error { return fatal{err} }

type fatal struct{ error }

func (f fatal) Unwrap() []error { return []error{f.error, suture.ErrTerminateSupervisorTree} }

// Options says how tiers are run. The zero value is usable.
type Options struct {
	// Log hears of failures and of services that do not stop; nil for nobody.
	Log *slog.Logger
	// Stop bounds a stop of all tiers together; default 10 s.
	Stop time.Duration
	// OnChange, if set, is called with each change of a tier's status, one call
	// at a time and in order; err is why, on Restarting and Failing. Run waits
	// for it, so it must be quick. (*Statuses).Set fits.
	OnChange func(tier string, status Status, err error)
}

// Run starts the tiers, keeps them up until ctx ends, and stops them.
//
// It returns nil when it was ctx that ended it and everything stopped in time.
// Otherwise it returns the error of a service that gave up (Fatal), or one that
// names each service that did not stop within its time; such a service is left
// behind, and the program had better end.
func Run(ctx context.Context, o Options, tiers ...Tier) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Stop <= 0 {
		o.Stop = 10 * time.Second
	}
	if o.OnChange == nil {
		o.OnChange = func(string, Status, error) {}
	}
	r := &runner{Options: o, tiers: tiers, notes: make(chan note)}
	for _, t := range tiers {
		o.OnChange(t.Name, Down, nil)
	}
	cause := r.watch(ctx)
	return errors.Join(cause, r.stop(0))
}
