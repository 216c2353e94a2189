package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"chaperone/backend/event"
)

// fakePeople answers by method, and tells what tell is given.
type fakePeople struct {
	answers map[string]string
	lines   []string
	from    chan int64
	tell    chan []event.Event
}

func (p *fakePeople) Send(_ context.Context, line []byte) []byte {
	p.lines = append(p.lines, string(line))
	var request struct{ Method string }
	_ = json.Unmarshal(line, &request) // what is no line has no answer below either
	return []byte(p.answers[request.Method])
}

func (p *fakePeople) Events(ctx context.Context, from int64, batch func([]event.Event)) error {
	p.from <- from
	for {
		select {
		case events := <-p.tell:
			batch(events)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func numbered(from, to int64) []event.Event {
	var events []event.Event
	for seq := from; seq <= to; seq++ {
		events = append(events, event.Event{Seq: seq, Category: "policy.decided"})
	}
	return events
}

func TestEventsReachThePageInSpacedBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		people := &fakePeople{
			answers: map[string]string{"audit": `{"id":"window","ok":true,"result":{"events":[],"more":true,"last":41}}`},
			from:    make(chan int64, 1), tell: make(chan []event.Event),
		}
		type emission struct {
			after  time.Duration
			events int
		}
		var got []emission
		began := time.Now()
		// Without a bus to tell, notifications end at once.
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
		t.Setenv("XDG_RUNTIME_DIR", "")
		w := &window{people: people, notify: newNotifier()}
		w.start(ctx, func(name string, data ...any) {
			var events []event.Event
			if err := json.Unmarshal([]byte(data[0].(string)), &events); err != nil || name != "events" {
				t.Errorf("emitted %s %v: %v", name, data, err)
			}
			got = append(got, emission{time.Since(began), len(events)})
		}, func() {})
		if from := <-people.from; from != 41 {
			t.Errorf("events are read after %d, want the end of the log, 41", from)
		}
		people.tell <- numbered(42, 42)
		people.tell <- numbered(43, 492) // taken only when the pause is over
		synctest.Wait()
		time.Sleep(time.Second) // of the bubble's time
		cancel()
		w.wait()
		want := []emission{{0, 1}, {eventsGap, 200}, {2 * eventsGap, 200}, {3 * eventsGap, 50}}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("batches %v, want %v", got, want)
		}
	})
}

func TestTheWindowLearnsWhetherThePersonLooks(t *testing.T) {
	people := &fakePeople{answers: map[string]string{"window_state": `{"id":1,"ok":true,"result":{}}`}}
	w := &window{people: people, notify: newNotifier()}
	for _, focused := range []bool{true, false} {
		line := fmt.Sprintf(`{"id":1,"method":"window_state","args":{"focused":%t}}`, focused)
		if got := string(w.answer(t.Context(), []byte(line))); !strings.Contains(got, `"ok":true`) {
			t.Errorf("the answer is %s", got)
		}
		if w.notify.focused != focused {
			t.Errorf("focused is %t after %s", w.notify.focused, line)
		}
	}
	w.answer(t.Context(), []byte(`{"id":1,"method":"overview","args":{"focused":true}}`))
	if w.notify.focused {
		t.Error("another method changed the focus")
	}
	if len(people.lines) != 3 {
		t.Errorf("the host got %d lines, want all 3", len(people.lines))
	}
}

func TestAQuestionIsNeverAnsweredUnseen(t *testing.T) {
	for _, focused := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			people := &fakePeople{from: make(chan int64, 1), tell: make(chan []event.Event)}
			t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
			t.Setenv("XDG_RUNTIME_DIR", "")
			w := &window{people: people, notify: newNotifier()}
			w.notify.focus(focused)
			raised := 0
			w.start(ctx, func(string, ...any) {}, func() { raised++ })
			people.tell <- numbered(1, 2)
			people.tell <- asked("q1", "shopper", "https://pay.example")
			people.tell <- settled("q1")
			cancel()
			w.wait()
			want := map[bool]int{true: 1, false: 0}[focused]
			if raised != want {
				t.Errorf("with focus %t the window came to the front %d times, want %d", focused, raised, want)
			}
		})
	}
}

func TestClosingAsksOnlyWhileAgentsAreConnected(t *testing.T) {
	none := `{"id":"window","ok":true,"result":{"agents":[{"agent":"ann","connected":false}]}}`
	for name, answer := range map[string]string{"nobody is connected": none, "the host does not answer": "", "it refuses": `{"ok":false}`} {
		w := &window{people: &fakePeople{answers: map[string]string{"agents": answer}}}
		if w.beforeClose(t.Context()) {
			t.Errorf("the window stays open although %s", name)
		}
	}
	two := `{"id":"window","ok":true,"result":{"agents":[{"connected":true},{"connected":false},{"connected":true}]}}`
	w := &window{people: &fakePeople{answers: map[string]string{"agents": two}}}
	if got := w.connected(t.Context()); got != 2 {
		t.Errorf("connected = %d, want 2", got)
	}
	w.ended.Store(true)
	if w.beforeClose(t.Context()) {
		t.Error("the window stays open although the host has ended")
	}
	if got, want := closing(2), "2 agents are connected; their windows will close. Close Chaperone?"; got != want {
		t.Errorf("closing(2) = %q, want %q", got, want)
	}
	if got, want := closing(1), "1 agent is connected; its window will close. Close Chaperone?"; got != want {
		t.Errorf("closing(1) = %q, want %q", got, want)
	}
}

func TestASignalIsNotAskedAbout(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR2)
	defer signal.Stop(signals)
	wails := make(chan os.Signal, 1)
	signal.Notify(wails, syscall.SIGUSR2)
	defer signal.Stop(wails)
	people := &fakePeople{answers: map[string]string{"agents": `{"ok":true,"result":{"agents":[{"connected":true}]}}`}}
	w := &window{people: people, signals: signals}
	if w.signalled() {
		t.Fatal("a signal is seen before there is one")
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	<-wails // whoever hears of it second, the window knows already
	for range 2 {
		if w.beforeClose(t.Context()) {
			t.Error("the window stays open although a signal ended it")
		}
	}
	if len(people.lines) != 0 {
		t.Errorf("the host was asked %v", people.lines)
	}
}

func TestASignalEndsAWindowThatDoesNotHearOfIt(t *testing.T) {
	for name, test := range map[string]struct{ signal, over, closes, want bool }{
		"deaf to a signal":       {signal: true, want: true},
		"deaf to the host's end": {over: true, want: true},
		"closes":                 {signal: true, closes: true},
		"nobody says anything":   {closes: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told, over, closed := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
				var abandoned atomic.Bool
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					insist(told, over, closed, func() { abandoned.Store(true) })
				}()
				if test.signal {
					told <- syscall.SIGTERM
				}
				if test.over {
					close(over)
				}
				if synctest.Wait(); abandoned.Load() {
					t.Error("the window was given no time")
				}
				if test.closes {
					close(closed)
				}
				<-ended
				if got := abandoned.Load(); got != test.want {
					t.Errorf("abandoned: %v", got)
				}
			})
		})
	}
}
