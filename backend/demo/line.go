package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/wire"
)

// line is an agent's end of the line to Chaperone: it writes requests, matches
// the answers by id, and hands on the events. It keeps count of the bytes.
type line struct {
	events chan event.Event

	write sync.Mutex // one line at a time
	to    io.Writer
	ended chan struct{} // closed when the reader has ended

	mu             sync.Mutex
	next           int
	waiting        map[int]chan answer
	over           error
	sent, received int64
}

// answer is one line that came back.
type answer struct {
	ID     int             `json:"id"`
	OK     bool            `json:"ok"`
	Result json.RawMessage `json:"result"`
	Error  *fault.Error    `json:"error"`
	Event  *event.Event    `json:"event"`

	bytes int
	took  time.Duration
}

var errLineOver = errors.New("the line was closed by the other side")

// eventsHeld is how many events may wait for whoever reads them: more than one show makes.
const eventsHeld = 4096

// newLine reads from until its end; wait waits for that.
func newLine(to io.Writer, from io.Reader) *line {
	l := &line{
		to: to, events: make(chan event.Event, eventsHeld),
		ended: make(chan struct{}), waiting: map[int]chan answer{},
	}
	go l.read(from)
	return l
}

func (l *line) read(from io.Reader) {
	defer close(l.ended)
	defer close(l.events)
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 64<<10), wire.MaxLine+1)
	var err error
	for err == nil && lines.Scan() {
		err = l.take(lines.Bytes())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = errors.Join(errLineOver, err, lines.Err())
	for id, waiter := range l.waiting {
		close(waiter)
		delete(l.waiting, id)
	}
}

func (l *line) take(text []byte) error {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return fmt.Errorf("a line that is not an answer: %w", err)
	}
	a.bytes = len(text) + 1
	l.mu.Lock()
	defer l.mu.Unlock()
	l.received += int64(a.bytes)
	if a.Event != nil {
		select {
		case l.events <- *a.Event:
			return nil
		default:
			return fmt.Errorf("more than %d events that nobody read", eventsHeld)
		}
	}
	waiter, known := l.waiting[a.ID]
	if !known {
		return fmt.Errorf("an answer to a request that was not made: id %d", a.ID)
	}
	delete(l.waiting, a.ID)
	waiter <- a
	return nil
}

// start writes one request and returns it as written, and where its answer will come.
func (l *line) start(method string, args any) (string, <-chan answer, error) {
	if args == nil {
		args = struct{}{}
	}
	l.mu.Lock()
	if l.over != nil {
		defer l.mu.Unlock()
		return "", nil, l.over
	}
	l.next++
	id := l.next
	waiter := make(chan answer, 1)
	l.waiting[id] = waiter
	l.mu.Unlock()

	text, err := json.Marshal(struct {
		ID     int    `json:"id"`
		Method string `json:"method"`
		Args   any    `json:"args"`
	}{id, method, args})
	if err != nil {
		return "", nil, err
	}
	l.write.Lock()
	defer l.write.Unlock()
	if _, err := l.to.Write(append(text, '\n')); err != nil {
		return "", nil, err
	}
	l.mu.Lock()
	l.sent += int64(len(text) + 1)
	l.mu.Unlock()
	return string(text), waiter, nil
}

// wait waits for one answer, as long as ctx lasts.
func (l *line) wait(ctx context.Context, waiter <-chan answer) (answer, error) {
	begun := time.Now()
	select {
	case a, open := <-waiter:
		if !open {
			l.mu.Lock()
			defer l.mu.Unlock()
			return answer{}, l.over
		}
		a.took = time.Since(begun)
		return a, nil
	case <-ctx.Done():
		return answer{}, context.Cause(ctx)
	}
}

// bytes tells what was sent and received so far.
func (l *line) bytes() (sent, received int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent, l.received
}
