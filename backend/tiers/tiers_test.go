package tiers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"chaperone/backend/tiers"

	"github.com/thejerf/suture/v4"
)

// A journal is what happened, line by line.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

func (j *journal) change(tier string, status tiers.Status, err error) {
	if err != nil {
		j.add("%s %s: %v", tier, status, err)
	} else {
		j.add("%s %s", tier, status)
	}
}

// steady is a tier of one service that takes a while to become ready and a while to stop.
func steady(j *journal, name string, slow time.Duration) tiers.Tier {
	return tiers.Tier{Name: name, Services: []suture.Service{tiers.Func(name, func(ctx context.Context, ready func()) error {
		time.Sleep(100 * time.Millisecond)
		j.add("%s serves", name)
		ready()
		<-ctx.Done()
		time.Sleep(slow)
		j.add("%s ends", name)
		return ctx.Err()
	})}}
}

// faulty is a tier of one service that fails each time it receives, by what it received.
func faulty(name string, fail <-chan func() error) tiers.Tier {
	return tiers.Tier{Name: name, Services: []suture.Service{tiers.Func(name, func(ctx context.Context, ready func()) error {
		ready()
		select {
		case f := <-fail:
			return f()
		case <-ctx.Done():
			return ctx.Err()
		}
	})}}
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// run runs tiers in the background; stop ends them and returns what Run returned.
func run(t *testing.T, o tiers.Options, list ...tiers.Tier) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- tiers.Run(ctx, o, list...) }()
	return func() error { cancel(); return <-done }
}

func TestStartsInOrderAndStopsInReverse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		stop := run(t, tiers.Options{}, steady(j, "ledger", 0), steady(j, "browsers", 2*time.Second), steady(j, "doors", time.Second))
		time.Sleep(time.Second)
		begun := time.Now()
		if err := stop(); err != nil {
			t.Error(err)
		}
		same(t, j.take(), "ledger serves", "browsers serves", "doors serves", "doors ends", "browsers ends", "ledger ends")
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("stopping took %v, want 3s", took)
		}
	})
}

func TestATierWaitsForEveryServiceBelow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		low := steady(j, "quick", 0)
		slow := tiers.Func("slow", func(ctx context.Context, ready func()) error {
			time.Sleep(5 * time.Second)
			j.add("slow serves")
			ready()
			<-ctx.Done()
			return ctx.Err()
		})
		finished := tiers.Func("finished", func(context.Context, func()) error { return tiers.Done() })
		low.Services = append(low.Services, slow, finished)
		stop := run(t, tiers.Options{OnChange: j.change}, low, steady(j, "high", 0), tiers.Tier{Name: "empty"})
		time.Sleep(time.Minute)
		if err := stop(); err != nil {
			t.Error(err)
		}
		same(t, j.take(),
			"quick down", "high down", "empty down",
			"quick starting", "quick serves", "slow serves", "quick up",
			"high starting", "high serves", "high up", "empty starting", "empty up",
			"empty stopping", "empty down", "high stopping", "high ends", "high down",
			"quick stopping", "quick ends", "quick down")
	})
}

func TestAFailureRestartsTheServiceAndWhatStandsOnIt(t *testing.T) {
	for _, c := range []struct {
		name string
		fail func() error
		why  string
	}{
		{"panic", func() error { panic("a bad day") }, "panic: a bad day"},
		{"error", func() error { return errors.New("no more") }, "no more"},
		{"end", func() error { return nil }, "it ended by itself"},
		{"another's context", func() error { return context.Canceled }, "context canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j, states, fail := &journal{}, &tiers.Statuses{}, make(chan func() error)
				stop := run(t, tiers.Options{OnChange: func(tier string, status tiers.Status, err error) {
					j.change(tier, status, err)
					states.Set(tier, status, err)
				}}, steady(j, "ledger", 0), faulty("browsers", fail), steady(j, "doors", time.Second))
				time.Sleep(time.Second)
				j.take()
				if !states.Healthy() {
					t.Errorf("not healthy: %+v", states.List())
				}

				fail <- c.fail
				time.Sleep(time.Second / 2) // doors takes a second to go
				got := states.List()
				if got[1].Status != tiers.Restarting || got[1].Error != c.why || got[2].Status != tiers.Stopping || states.Healthy() {
					t.Errorf("while it restarts: %+v", got)
				}
				time.Sleep(time.Minute)
				same(t, j.take(), "browsers restarting: "+c.why,
					"doors stopping", "doors ends", "doors down",
					"browsers up", "doors starting", "doors serves", "doors up")
				if got := states.List(); !states.Healthy() || got[1].Error != "" {
					t.Errorf("not healthy again: %+v", got)
				}
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestAStormOfFailuresIsAState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			j     = &journal{}
			mends atomic.Bool
			runs  atomic.Int32
		)
		bad := tiers.Tier{Name: "bad", Services: []suture.Service{tiers.Func("bad", func(ctx context.Context, ready func()) error {
			runs.Add(1)
			if !mends.Load() {
				return errors.New("cannot start")
			}
			ready()
			<-ctx.Done()
			return ctx.Err()
		})}}
		stop := run(t, tiers.Options{OnChange: j.change}, steady(j, "low", 0), bad, steady(j, "high", 0))
		time.Sleep(10 * time.Second)
		lines := j.take()
		if last := lines[len(lines)-1]; last != "bad failing: cannot start" {
			t.Errorf("the last change is %q", last)
		}
		if n := runs.Load(); n < 3 || n > 10 {
			t.Errorf("tried %d times before it rested", n)
		}
		mends.Store(true)
		time.Sleep(time.Minute)
		same(t, j.take(), "bad starting", "bad up", "high starting", "high serves", "high up")
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestAFatalErrorStopsEverythingInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, fail := &journal{}, make(chan func() error)
		newer := errors.New("the file is of a newer version")
		done := make(chan error, 1)
		go func() {
			done <- tiers.Run(t.Context(), tiers.Options{}, steady(j, "low", 0), faulty("middle", fail), steady(j, "high", 0))
		}()
		time.Sleep(time.Second)
		fail <- func() error { return tiers.Fatal(newer) }
		err := <-done
		if !errors.Is(err, newer) || !strings.Contains(err.Error(), "middle: the file is of a newer version") {
			t.Errorf("got %v", err)
		}
		same(t, j.take(), "low serves", "high serves", "high ends", "low ends")
	})
}

func TestALaggardIsNamedAndTheRestStopsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, release := &journal{}, make(chan struct{})
		stuck := steady(j, "doors", 0)
		stuck.Services = append(stuck.Services, tiers.Func("stuck door", func(context.Context, func()) error {
			<-release
			return nil
		}))
		stop := run(t, tiers.Options{Stop: 10 * time.Second}, steady(j, "ledger", time.Second), steady(j, "browsers", time.Second), stuck)
		time.Sleep(time.Second)
		begun := time.Now()
		err := stop()
		if err == nil || err.Error() != "tier doors did not stop in time: stuck door" {
			t.Errorf("got %v", err)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("stopping took %v", took)
		}
		same(t, j.take(), "ledger serves", "browsers serves", "doors serves", "doors ends", "browsers ends", "ledger ends")
		close(release)
	})
}

func TestALaggardOfARestartEndsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail, release := make(chan func() error), make(chan struct{})
		stuck := tiers.Tier{Name: "doors", Services: []suture.Service{tiers.Func("stuck door", func(context.Context, func()) error {
			<-release
			return nil
		})}}
		done := make(chan error, 1)
		go func() { done <- tiers.Run(t.Context(), tiers.Options{}, faulty("browsers", fail), stuck) }()
		fail <- func() error { return errors.New("gone") }
		if err := <-done; err == nil || err.Error() != "tier doors did not stop in time: stuck door" {
			t.Errorf("got %v", err)
		}
		close(release)
	})
}

func TestStoppedWhileStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		never := tiers.Tier{Name: "never", Services: []suture.Service{tiers.Func("never", func(ctx context.Context, _ func()) error {
			<-ctx.Done()
			return ctx.Err()
		})}}
		stop := run(t, tiers.Options{}, steady(j, "low", 0), never, steady(j, "high", 0))
		time.Sleep(time.Hour)
		if err := stop(); err != nil {
			t.Error(err)
		}
		same(t, j.take(), "low serves", "low ends")
	})
}

// plain has no word for being ready.
type plain struct{ served chan struct{} }

func (p plain) Serve(ctx context.Context) error {
	close(p.served)
	<-ctx.Done()
	return ctx.Err()
}

func TestAPlainServiceIsReadyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, p := &journal{}, plain{make(chan struct{})}
		stop := run(t, tiers.Options{}, tiers.Tier{Name: "plain", Services: []suture.Service{p}}, steady(j, "high", 0))
		<-p.served
		time.Sleep(time.Second)
		if err := stop(); err != nil {
			t.Error(err)
		}
		same(t, j.take(), "high serves", "high ends")
	})
}
