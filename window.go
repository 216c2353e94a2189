package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wailsapp/wails/v2/pkg/runtime"

	"chaperone/backend/event"
)

const (
	// eventsName is the name under which batches of events reach the page.
	eventsName = "events"
	// eventsGap is the least time between two batches: the page paints once for
	// each, and 10,000 single events would freeze it for seconds. What happens
	// in between waits in the log.
	eventsGap = 33 * time.Millisecond
	// eventsBatch is the most events in a batch.
	eventsBatch = 200
)

// A window joins the native window to the people's side of the host.
type window struct {
	people people
	notify *notifier
	// signals holds a request to end from outside, for which nobody is asked.
	signals chan os.Signal
	// abandon ends the program without the native window's help. It does not return.
	abandon func()
	// ended is set when the host has ended by itself: there is nothing left to ask about.
	ended atomic.Bool
	// asking is set while the question before closing is open.
	asking atomic.Bool
	tasks  sync.WaitGroup
}

// answer passes a line from the page to the host, and learns from it on the way
// whether the person is looking.
func (w *window) answer(ctx context.Context, line []byte) []byte {
	var state struct {
		Method string `json:"method"`
		Args   struct {
			Focused bool `json:"focused"`
		} `json:"args"`
	}
	if json.Unmarshal(line, &state) == nil && state.Method == "window_state" {
		w.notify.focus(state.Args.Focused)
	}
	return w.people.Send(ctx, line)
}

// start runs the window's tasks until ctx ends; wait waits for them.
// show brings the window to the front.
func (w *window) start(ctx context.Context, emit func(name string, data ...any), show func()) {
	w.tasks.Go(func() { w.notify.run(ctx, show) })
	w.tasks.Go(func() {
		err := w.people.Events(ctx, w.last(ctx), func(events []event.Event) {
			if w.notify.see(events) {
				// The focus stays here when an agent's new window opens on top. Keys
				// must not answer a question that nobody can see.
				show()
			}
			forward(ctx, events, emit)
		})
		if err != nil && ctx.Err() == nil {
			slog.Error("the window hears of nothing any more", "err", err)
		}
	})
}

func (w *window) wait() { w.tasks.Wait() }

// last returns the newest sequence of the log. The page reads the state of
// things itself when it opens; what came before is of no use to it as events.
func (w *window) last(ctx context.Context) int64 {
	var answer struct {
		Result struct {
			Last int64 `json:"last"`
		} `json:"result"`
	}
	line := w.people.Send(ctx, []byte(`{"id":"window","method":"audit","args":{"limit":1}}`))
	if err := json.Unmarshal(line, &answer); err != nil {
		slog.Warn("the end of the log is unknown; the window reads it from the start", "err", err)
	}
	return answer.Result.Last
}

// forward emits events in batches, each followed by a pause in which more can gather.
func forward(ctx context.Context, events []event.Event, emit func(name string, data ...any)) {
	for len(events) > 0 {
		batch := events[:min(len(events), eventsBatch)]
		events = events[len(batch):]
		text, err := json.Marshal(batch)
		if err != nil {
			slog.Error("a batch of events cannot be written as JSON", "err", err)
			continue
		}
		emit(eventsName, string(text))
		pause := time.NewTimer(eventsGap)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
	}
}

// beforeClose asks before agents lose their windows. It returns true to stay open.
// A signal is never asked about, and ends a question that is open.
func (w *window) beforeClose(ctx context.Context) (stay bool) {
	if w.ended.Load() || w.signalled() {
		return false
	}
	agents := w.connected(ctx)
	if agents == 0 {
		return false
	}
	if !w.asking.CompareAndSwap(false, true) {
		return true // it is being asked already
	}
	defer w.asking.Store(false)
	choice := make(chan string, 1)
	go func() { choice <- ask(ctx, closing(agents)) }()
	select {
	case c := <-choice:
		return c != "Yes"
	case <-w.signals:
		// The question runs in a loop of its own inside GTK that only an answer ends.
		w.abandon()
		return false
	}
}

// quitWithin is how long the native window may take to close when it was told to.
const quitWithin = 3 * time.Second

// insist sees to it that the program ends after a signal or the host's own end.
// The native window does not hear of either while it is still being made, and
// Wails says it once only. It returns when closed is.
func insist(told <-chan os.Signal, over, closed <-chan struct{}, abandon func()) {
	select {
	case <-told:
	case <-over:
	case <-closed:
		return
	}
	limit := time.NewTimer(quitWithin)
	defer limit.Stop()
	select {
	case <-closed:
	case <-limit.C:
		abandon()
	}
}

// closing says what is lost by closing while agents are connected.
func closing(agents int) string {
	if agents == 1 {
		return "1 agent is connected; its window will close. Close Chaperone?"
	}
	return fmt.Sprintf("%d agents are connected; their windows will close. Close Chaperone?", agents)
}

// ask returns "Yes" or "No". Where nothing can be asked it is "Yes": a window
// that can't be closed would be worse.
func ask(ctx context.Context, question string) string {
	choice, err := runtime.MessageDialog(ctx, runtime.MessageDialogOptions{
		Type: runtime.QuestionDialog, Title: "Close Chaperone?", Message: question, DefaultButton: "No",
	})
	if err != nil {
		slog.Error("the question before closing failed", "err", err)
		return "Yes"
	}
	return choice
}

// signalled reports whether the program was told to end by a signal. Wails calls
// beforeClose for a signal as for the close button, possibly before this
// program's own channel has it: both are filled under one lock of os/signal,
// which Stop takes too.
func (w *window) signalled() bool {
	signal.Stop(make(chan os.Signal))
	select {
	case s := <-w.signals:
		w.signals <- s
		return true
	default:
		return false
	}
}

// connected returns how many agents would lose their windows.
func (w *window) connected(ctx context.Context) int {
	var answer struct {
		Result struct {
			Agents []struct {
				Connected bool `json:"connected"`
			} `json:"agents"`
		} `json:"result"`
	}
	// A host that does not answer must not hold the window open.
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if json.Unmarshal(w.people.Send(ctx, []byte(`{"id":"window","method":"agents","args":{}}`)), &answer) != nil {
		return 0
	}
	n := 0
	for _, agent := range answer.Result.Agents {
		if agent.Connected {
			n++
		}
	}
	return n
}
