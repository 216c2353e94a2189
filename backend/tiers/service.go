package tiers

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/thejerf/suture/v4"
)

// A service is what a supervisor runs in place of a tier's service: it tells
// the runner what became of it, and holds back a restart until nothing leans on it.
type service struct {
	name  string
	inner suture.Service
	tell  func(ctx context.Context, kind noteKind, err error) (cleared <-chan struct{})
	// running is whether inner's own code runs.
	running atomic.Bool
	// ready belongs to the runner's goroutine.
	ready bool
}

func (s *service) String() string { return s.name }

func (s *service) Serve(ctx context.Context) error {
	err := s.run(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, suture.ErrDoNotRestart):
		s.tell(ctx, noteReady, nil) // nobody waits for one that has finished
		return err
	case errors.Is(err, suture.ErrTerminateSupervisorTree):
		s.tell(ctx, noteFatal, err)
		return err
	case err == nil:
		err = errors.New("it ended by itself")
	}
	select {
	case <-s.tell(ctx, noteFailed, err):
	case <-ctx.Done():
	}
	return err
}

// run is one run of the inner service; a panic is an error like another.
func (s *service) run(ctx context.Context) (err error) {
	s.running.Store(true)
	defer s.running.Store(false)
	defer func() {
		if p := recover(); p != nil {
			err = &panicked{p, debug.Stack()}
		}
	}()
	var once sync.Once
	ready := func() { once.Do(func() { s.tell(ctx, noteReady, nil) }) }
	if r, ok := s.inner.(Readier); ok {
		return r.ServeReady(ctx, ready)
	}
	ready()
	return s.inner.Serve(ctx)
}

// panicked is a panic as an error; the stack is for the log, not for people.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

func serviceName(s suture.Service) string {
	if n, ok := s.(fmt.Stringer); ok {
		return n.String()
	}
	return fmt.Sprintf("%T", s)
}
