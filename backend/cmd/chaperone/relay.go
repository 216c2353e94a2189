package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/wire"

	"github.com/google/uuid"
)

const (
	// introducing is how long a host may take to answer hello.
	introducing = 10 * time.Second
	// departing bounds the wait for the last answers; the host's own bound is below it.
	departing = 130 * time.Second
	// ahead is how many lines are read before the first of them is dealt with.
	ahead = 16
)

// A relay carries lines between an agent and the host. It looks at no more than
// ids and methods, so that each request gets exactly one answer however the host
// comes and goes, and a new host sees the same agent.
//
// All fields but the first four belong to the goroutine of run.
type relay struct {
	agent ids.Agent // who to come back as; learned from the host when it was not given
	out   io.Writer
	notes io.Writer
	// dial connects to a host. Its errors are what the requests are answered with.
	dial func(ctx context.Context) (io.ReadWriteCloser, error)

	host       *connection // nil when there is none
	introduced bool        // the host knows the agent of this line
	pending    []json.RawMessage
	// helloID is the id of the agent's own hello that is under way.
	helloID json.RawMessage
	// own are the ids of the relay's own requests, by what they are for.
	ownHello, ownBye json.RawMessage
	// held waits for the relay's own hello to be answered; nothing is read meanwhile.
	held *request
	// queue is what the host has not yet taken; nothing is read meanwhile either.
	queue [][]byte
	// refusal is what the host said to nobody in particular, before it hung up.
	refusal *fault.Error
	timer   <-chan time.Time

	failure  error
	failedAt time.Time
	ended    bool // standard input has
}

// request is one line of the agent.
type request struct {
	wire.Request
	raw []byte
	err error
	at  time.Time
}

// connection is one connection to a host.
type connection struct {
	conn  io.ReadWriteCloser
	lines chan []byte // from the host; closed when it is gone
	sink  chan []byte // to the host
	quit  chan struct{}
	tasks sync.WaitGroup
}

// run relays until the agent has ended its input and has all answers, or ctx
// ends. Its error is that of writing to the agent.
func (r *relay) run(ctx context.Context, in io.Reader) error {
	requests := r.read(ctx, in)
	defer r.hangUp()
	for {
		from := requests
		if r.held != nil || len(r.queue) > 0 || r.ended {
			from = nil
		}
		var lines <-chan []byte
		var sink chan<- []byte
		var next []byte
		if r.host != nil {
			lines = r.host.lines
			if len(r.queue) > 0 {
				sink, next = r.host.sink, r.queue[0]
			}
		} else if r.ended {
			return nil
		}
		var err error
		select {
		case <-ctx.Done():
			return nil
		case q, ok := <-from:
			if ok {
				err = r.request(ctx, q)
			} else {
				r.ended = true
				err = r.bye()
			}
		case text, ok := <-lines:
			if ok {
				err = r.answered(text)
			} else {
				err = r.lost(fault.New(fault.BrowserGone, "Chaperone ended while the call was under way").
					WithHint("Repeat the request to connect again, but look at the page first."))
			}
		case sink <- next:
			r.queue = r.queue[1:]
		case <-r.timer:
			err = r.lost(fault.New(fault.BrowserUnavailable, "Chaperone does not answer"))
		}
		if err != nil {
			return err
		}
	}
}

// read reads the agent's lines until its end, then closes the channel.
func (r *relay) read(ctx context.Context, in io.Reader) <-chan request {
	requests := make(chan request, ahead)
	go func() {
		defer close(requests)
		reader := wire.NewReader(in)
		for {
			var q request
			text, err := reader.Next()
			switch {
			case err == nil:
				q.Request, q.err = wire.Parse(text)
				q.raw = append(slices.Clone(text), '\n')
			case errors.Is(err, wire.ErrTooLong):
				q.err = err
			default:
				return
			}
			q.at = time.Now()
			select {
			case requests <- q:
			case <-ctx.Done():
				return
			}
		}
	}()
	return requests
}

// request deals with one line of the agent.
func (r *relay) request(ctx context.Context, q request) error {
	if q.err != nil {
		return r.say(q.ID, q.err)
	}
	if r.host == nil {
		if r.failure != nil && q.at.Before(r.failedAt) { // it came while that attempt was made
			return r.say(q.ID, r.failure)
		}
		conn, err := r.dial(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			r.note("%v", err)
			r.failure, r.failedAt = err, time.Now()
			return r.say(q.ID, err)
		}
		r.connect(conn)
	}
	switch q.Method {
	case wire.MethodHello:
		if !r.introduced { // else it is refused, and nothing changes
			r.introduced, r.helloID = true, wire.Answer(q.ID, nil, nil).ID
		}
	case wire.MethodPing, wire.MethodMethods, wire.MethodStatus, wire.MethodCancel, wire.MethodBye:
		// These need no agent.
	default:
		if !r.introduced {
			r.held = &q
			r.timer = time.After(introducing)
			r.ownHello = ownID("hello")
			return r.own(r.ownHello, wire.MethodHello, map[string]any{"agent": r.agent, "protocol": wire.Protocol})
		}
	}
	return r.forward(q)
}

// connect makes conn the connection to the host. Reading and writing have a
// goroutine each, so that neither side ever waits for the other to read first.
func (r *relay) connect(conn io.ReadWriteCloser) {
	h := &connection{conn: conn, lines: make(chan []byte), sink: make(chan []byte), quit: make(chan struct{})}
	h.tasks.Go(func() {
		defer close(h.lines)
		reader := wire.NewReader(conn)
		for {
			text, err := reader.Next()
			if err != nil {
				return
			}
			select {
			case h.lines <- append(slices.Clone(text), '\n'):
			case <-h.quit:
				return
			}
		}
	})
	h.tasks.Go(func() {
		for {
			select {
			case text := <-h.sink:
				if _, err := conn.Write(text); err != nil {
					conn.Close() // shows as the end of its lines
				}
			case <-h.quit:
				return
			}
		}
	})
	r.host = h
}

// forward gives a request to the host.
func (r *relay) forward(q request) error {
	r.pending = append(r.pending, q.ID)
	r.queue = append(r.queue, q.raw)
	return nil
}

func ownID(what string) json.RawMessage {
	return json.RawMessage(`"chaperone-bridge-` + what + "-" + uuid.NewString() + `"`)
}

// own sends a request of the relay's own.
func (r *relay) own(id json.RawMessage, method string, args any) error {
	text, err := json.Marshal(args)
	if err != nil {
		return err
	}
	raw, err := wire.Marshal(wire.Request{ID: id, Method: method, Args: text})
	if err != nil {
		return err
	}
	r.queue = append(r.queue, append(raw, '\n'))
	return nil
}

// bye says to the host that nothing more comes. The host answers what is under
// way and then closes.
func (r *relay) bye() error {
	if r.host == nil {
		return nil
	}
	r.timer = time.After(departing)
	r.ownBye = ownID("bye")
	return r.own(r.ownBye, wire.MethodBye, struct{}{})
}

// answered deals with one line of the host.
func (r *relay) answered(text []byte) error {
	id, isAnswer := peek(text)
	switch {
	case !isAnswer:
	case r.ownHello != nil && bytes.Equal(id, r.ownHello):
		return r.helloAnswered(text)
	case r.ownBye != nil && bytes.Equal(id, r.ownBye):
		return nil
	default:
		if r.helloID != nil && bytes.Equal(id, r.helloID) {
			r.helloID = nil
			r.introduced = r.learn(text) == nil
		}
		i := slices.IndexFunc(r.pending, func(p json.RawMessage) bool { return same(p, id) })
		if i < 0 { // nothing that the agent asked
			r.refusal, _ = errors.AsType[*fault.Error](r.learn(text))
			return nil
		}
		r.pending = slices.Delete(r.pending, i, i+1)
	}
	_, err := r.out.Write(text)
	return err
}

// same compares ids; the host answers null where there was none.
func same(sent, came json.RawMessage) bool {
	return bytes.Equal(sent, came) || (len(sent) == 0 && string(came) == "null")
}

// peek returns the id of an answer, which stands first; the rest, which may be a
// long picture, is not looked at.
func peek(text []byte) (id json.RawMessage, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	if name, err := d.Token(); err != nil || name != "id" {
		return nil, false
	}
	return id, d.Decode(&id) == nil
}

// learn takes the agent's name from the answer to hello, or returns its error.
func (r *relay) learn(text []byte) error {
	var a struct {
		Result struct {
			Agent ids.Agent `json:"agent"`
		} `json:"result"`
		Error *fault.Error `json:"error"`
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return fault.New(fault.BrowserUnavailable, "Chaperone answers in a way that this bridge does not understand").
			WithHint("Check that both are of the same version.").Because(err)
	}
	if a.Error != nil {
		return a.Error
	}
	if a.Result.Agent != "" {
		r.agent = a.Result.Agent
	}
	return nil
}

func (r *relay) helloAnswered(text []byte) error {
	q := *r.held
	r.ownHello, r.held, r.timer = nil, nil, nil
	if err := r.learn(text); err != nil {
		r.note("%v", err)
		return r.say(q.ID, err)
	}
	r.introduced = true
	return r.forward(q)
}

// lost answers what the host no longer will.
func (r *relay) lost(why *fault.Error) error {
	r.hangUp()
	before := fault.New(fault.BrowserUnavailable, "Chaperone ended before the call began").WithHint("Repeat the request to connect again.")
	if r.refusal != nil {
		r.note("%v", r.refusal)
		why, before = r.refusal, r.refusal
	}
	var err error
	if r.held != nil {
		err = r.say(r.held.ID, before.WithEffect(fault.EffectNone))
	}
	for _, id := range r.pending {
		err = errors.Join(err, r.say(id, why.WithEffect(fault.EffectUnknown)))
	}
	r.introduced, r.refusal, r.timer = false, nil, nil
	r.pending, r.queue, r.held = nil, nil, nil
	r.helloID, r.ownHello, r.ownBye = nil, nil, nil
	return err
}

// hangUp ends the connection, if there is one, and waits for its goroutines.
func (r *relay) hangUp() {
	if r.host == nil {
		return
	}
	r.host.conn.Close()
	close(r.host.quit)
	r.host.tasks.Wait()
	r.host = nil
}

// say answers a request in the host's place.
func (r *relay) say(id json.RawMessage, err error) error {
	text, merr := wire.Marshal(wire.Answer(id, nil, err))
	if merr != nil {
		return merr
	}
	_, werr := r.out.Write(append(text, '\n'))
	return werr
}

func (r *relay) note(format string, args ...any) {
	fmt.Fprintf(r.notes, "chaperone bridge: "+format+"\n", args...)
}
