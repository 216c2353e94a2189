package action

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"chaperone/backend/ids"
)

var (
	clicks = &Spec{Method: "click", Effect: Mutates, Tab: OneTab}
	looks  = &Spec{Method: "look", Effect: Reads, Tab: OneTab}
	opens  = &Spec{Method: "open", Effect: Mutates, Tab: Lifecycle}
)

func has(t *Turn) bool {
	select {
	case <-t.ready:
		return true
	default:
		return false
	}
}

// expect checks who of the turns may go, as a string of y and n.
func expect(t *testing.T, when, want string, turns ...*Turn) {
	t.Helper()
	var got []byte
	for _, turn := range turns {
		if has(turn) {
			got = append(got, 'y')
		} else {
			got = append(got, 'n')
		}
	}
	if string(got) != want {
		t.Errorf("%s: got %s, want %s", when, got, want)
	}
}

func TestLanesOrder(t *testing.T) {
	l := lanes(1)
	a, b, other := l.Join(clicks, 1), l.Join(clicks, 1), l.Join(clicks, 2)
	barrier, after, read := l.Join(clicks, 0), l.Join(clicks, 2), l.Join(looks, 1)
	all := []*Turn{a, b, other, barrier, after, read}
	if barrier.Tab() != 1 {
		t.Errorf("a call that names no tab got tab %d", barrier.Tab())
	}
	expect(t, "at first", "ynynnn", all...)
	a.Leave()
	expect(t, "after a", "yyynnn", all...)
	b.Leave()
	expect(t, "after b", "yyynnn", all...)
	other.Leave()
	expect(t, "after all before the barrier", "yyyynn", all...)
	barrier.Leave()
	barrier.Leave()
	expect(t, "after the barrier", "yyyyyy", all...)
	after.Leave()
	read.Leave()
	if l.Waiting() != 0 {
		t.Errorf("%d wait", l.Waiting())
	}
}

func TestLifecycleIsABarrierThoughItNamesATab(t *testing.T) {
	l := lanes(1)
	a, open, b := l.Join(clicks, 1), l.Join(opens, 2), l.Join(clicks, 3)
	expect(t, "at first", "ynn", a, open, b)
	a.Leave()
	expect(t, "after a", "yyn", a, open, b)
	open.Leave()
	expect(t, "after open", "yyy", a, open, b)
}

func TestOneThatGivesUpHoldsNobodyUp(t *testing.T) {
	l := lanes(1)
	a, b, c := l.Join(clicks, 1), l.Join(clicks, 1), l.Join(clicks, 1)
	b.Leave()
	expect(t, "b left", "ynn", a, b, c)
	a.Leave()
	expect(t, "a left", "yny", a, b, c)
}

func join(l *Lanes, s *Spec, tab ids.Tab) (*Turn, *Budget) {
	turn, b := l.Join(s, tab), NewBudget(10*time.Second)
	turn.attach(b)
	return turn, b
}

func TestReadsDoNotWaitForThePerson(t *testing.T) {
	l := lanes(1)
	a, budget := join(l, clicks, 1)
	b, _ := join(l, clicks, 1)
	read, clock := join(l, looks, 1)
	whole, _ := join(l, looks, 0)
	expect(t, "nobody thinks", "ynnn", a, b, read, whole)
	budget.Pause()
	expect(t, "a person thinks", "ynyy", a, b, read, whole)
	if !read.Early() || a.Early() {
		t.Error("only the read came early")
	}
	l.Hold(1)
	if clock.Paused() {
		t.Error("the clock of the early read stands still, and nothing bounds it")
	}
	late, lateClock := join(l, looks, 1)
	click, clickClock := join(l, clicks, 1)
	expect(t, "while the tab is held", "yn", late, click)
	if lateClock.Paused() || !clickClock.Paused() {
		t.Error("the clock of a read runs, that of a click on a held tab does not")
	}
	budget.Resume()
	l.Release(1)
	if clickClock.Paused() {
		t.Error("the clock stands still after the answer")
	}
	a.Leave()
	b.Leave()
	expect(t, "early reads hold nobody up", "y", click)
}

func TestHeldTabStopsTheClocksOfItsCalls(t *testing.T) {
	l := lanes(1)
	_, one := join(l, clicks, 1)
	_, two := join(l, clicks, 2)
	l.Release(1) // nothing is held: nothing happens
	l.Hold(1)
	l.Hold(1)
	_, late := join(l, clicks, 1)
	check := func(when string, want bool) {
		t.Helper()
		if one.Paused() != want || late.Paused() != want || two.Paused() {
			t.Errorf("%s: paused %v, %v and %v", when, one.Paused(), late.Paused(), two.Paused())
		}
	}
	check("held twice", true)
	l.Release(1)
	check("released once", true)
	l.Release(1)
	check("released", false)
}

func TestMoveTakesTheClockAlong(t *testing.T) {
	l := lanes(1)
	turn, b := join(l, opens, 0)
	l.Hold(7)
	if b.Paused() {
		t.Fatal("another tab's hold stopped the clock")
	}
	turn.Move(7)
	if !b.Paused() {
		t.Error("the clock runs though the tab is held")
	}
	l.Release(7)
	if b.Paused() {
		t.Error("the clock stands still after the answer")
	}
}

// TestOrderIsKept runs random calls and checks that no two that conflict ran at
// the same time or out of the order of their arrival, and that all ran.
func TestOrderIsKept(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			l := lanes(1)
			const n = 40
			type span struct {
				barrier    bool
				tab        ids.Tab
				start, end time.Time
			}
			spans := make([]span, n)
			done := make(chan int)
			for i := range n {
				s, tab := []*Spec{clicks, clicks, looks, opens}[r.IntN(4)], ids.Tab(r.IntN(4))
				turn, took := l.Join(s, tab), time.Duration(1+r.IntN(20))*time.Millisecond
				spans[i] = span{barrier: tab == 0 || s == opens, tab: turn.Tab()}
				gone := r.IntN(10) == 0
				go func() {
					defer func() { done <- i }()
					defer turn.Leave()
					if gone { // cancelled while it waits or runs
						time.Sleep(took / 2)
						return
					}
					if err := turn.Wait(t.Context()); err != nil {
						t.Error(err)
					}
					spans[i].start = time.Now()
					time.Sleep(took)
					spans[i].end = time.Now()
				}()
				if r.IntN(3) == 0 {
					time.Sleep(time.Duration(r.IntN(10)) * time.Millisecond)
				}
			}
			var order []int
			for range n {
				order = append(order, <-done)
			}
			for i, a := range spans {
				for j, b := range spans[i+1:] {
					if a.end.IsZero() || b.end.IsZero() || !(a.barrier || b.barrier || a.tab == b.tab) {
						continue
					}
					if b.start.Before(a.end) {
						t.Fatalf("seed %d: call %d began before call %d ended; order of ends %v", seed, i+1+j, i, order)
					}
				}
			}
			if l.Waiting() != 0 || !slices.Contains(order, n-1) {
				t.Fatalf("seed %d: %d still wait", seed, l.Waiting())
			}
		})
	}
}
