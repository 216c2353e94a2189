package testkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/catalog"
	"chaperone/backend/fault"
	"chaperone/backend/serve/line"
	"chaperone/backend/wire"

	"github.com/google/jsonschema-go/jsonschema"
)

// An Answer is one answer line.
type Answer struct {
	ID     json.RawMessage `json:"id"`
	OK     bool            `json:"ok"`
	Result json.RawMessage `json:"result"`
	Error  *fault.Error    `json:"error"`
	// Line is the whole of it, as it came.
	Line []byte `json:"-"`
}

func parseAnswer(text []byte) (Answer, error) {
	var a Answer
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("a line that is no answer: %w: %.200s", err, text)
	}
	if a.OK == (a.Error != nil) || a.OK == (a.Result == nil) {
		return a, fmt.Errorf("an answer that is neither success nor failure: %.200s", text)
	}
	a.Line = text
	return a, nil
}

// of returns the result of method, proved by its schema, or the host's error.
func (a Answer) of(method string) (json.RawMessage, error) {
	if a.Error != nil {
		return nil, a.Error
	}
	return a.Result, fits(method, a.Result)
}

// fits proves a result against the schema of its method.
func fits(method string, result json.RawMessage) error {
	specs := line.Methods()
	for _, e := range catalog.All() {
		specs = append(specs, e.Spec)
	}
	i := slices.IndexFunc(specs, func(s *action.Spec) bool { return s.Method == method })
	if i < 0 {
		return fmt.Errorf("%s is no method, and was answered all the same", method)
	}
	schema, err := specs[i].Result.Resolve(&jsonschema.ResolveOptions{})
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(result, &v); err != nil {
		return err
	}
	if err := schema.Validate(v); err != nil {
		return fmt.Errorf("the result of %s does not fit its schema: %w", method, err)
	}
	return nil
}

func request(id json.RawMessage, method string, args any) ([]byte, error) {
	if args == nil {
		args = struct{}{}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	return wire.Marshal(wire.Request{ID: id, Method: method, Args: raw})
}

// An Agent is one line into the host, over its socket.
type Agent struct {
	conn net.Conn
	end  sync.WaitGroup

	mu      sync.Mutex
	last    int
	waiting map[string]*Reply
	stray   [][]byte // lines that answer none of our calls
	changed chan struct{}
	over    error // why no more comes
}

// Agent opens a line and says hello; an empty name says nothing, so that the
// host makes a fresh agent of its own.
func (k *Kit) Agent(name string) (*Agent, error) {
	a, err := k.Line()
	if err != nil || name == "" {
		return a, err
	}
	_, err = a.Call("hello", map[string]any{"agent": name, "protocol": wire.Protocol})
	return a, err
}

// Line opens a line on which nothing was said yet.
func (k *Kit) Line() (*Agent, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := line.Dial(ctx, k.Host.Paths().Socket)
	if err != nil {
		return nil, err
	}
	a := &Agent{conn: conn, waiting: map[string]*Reply{}, changed: make(chan struct{})}
	a.end.Go(a.read)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.agents = append(k.agents, a)
	return a, nil
}

func (a *Agent) read() {
	r := wire.NewReader(a.conn)
	for {
		text, err := r.Next()
		a.mu.Lock()
		if err != nil {
			a.over = fmt.Errorf("the line has ended: %w", err)
			for id, reply := range a.waiting {
				delete(a.waiting, id)
				close(reply.done)
			}
		} else {
			a.take(slices.Clone(text))
		}
		close(a.changed)
		a.changed = make(chan struct{})
		a.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// take gives a line to the call that it answers. The lock is held.
func (a *Agent) take(text []byte) {
	answer, err := parseAnswer(text)
	reply := a.waiting[string(answer.ID)]
	if err != nil || reply == nil {
		a.stray = append(a.stray, text)
		return
	}
	delete(a.waiting, string(answer.ID))
	reply.answer = &answer
	close(reply.done)
}

// A Reply is the answer to a call, which may be still to come.
type Reply struct {
	// ID is the call's id on the line.
	ID     json.RawMessage
	method string
	agent  *Agent
	done   chan struct{}
	answer *Answer // nil when the line ended first
}

// Start sends a call without waiting for its answer; args may be nil.
func (a *Agent) Start(method string, args any) (*Reply, error) {
	a.mu.Lock()
	if a.over != nil {
		defer a.mu.Unlock()
		return nil, a.over
	}
	a.last++
	r := &Reply{ID: json.RawMessage(strconv.Itoa(a.last)), method: method, agent: a, done: make(chan struct{})}
	a.waiting[string(r.ID)] = r
	a.mu.Unlock()
	text, err := request(r.ID, method, args)
	if err != nil {
		return nil, err
	}
	return r, a.Send(text)
}

// Done is closed when the answer is there, or can't come any more.
func (r *Reply) Done() <-chan struct{} { return r.done }

// Wait waits for the answer. The error is the host's own, a *fault.Error, unless
// the line failed or the result does not fit its schema.
func (r *Reply) Wait() (json.RawMessage, error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-r.done:
	case <-late.C:
		return nil, fmt.Errorf("%s was not answered within %v", r.method, patience)
	}
	if r.answer == nil {
		r.agent.mu.Lock()
		defer r.agent.mu.Unlock()
		return nil, r.agent.over
	}
	return r.answer.of(r.method)
}

// Call sends a call and waits for its answer, as Reply.Wait does.
func (a *Agent) Call(method string, args any) (json.RawMessage, error) {
	r, err := a.Start(method, args)
	if err != nil {
		return nil, err
	}
	return r.Wait()
}

// Relay writes a line that has an id of the caller's own and waits for the line
// that answers it, as long as ctx lasts.
func (a *Agent) Relay(ctx context.Context, text []byte) ([]byte, error) {
	r, err := wire.Parse(text)
	if err != nil {
		return wire.Marshal(wire.Answer(r.ID, nil, err))
	}
	reply := &Reply{ID: r.ID, method: r.Method, agent: a, done: make(chan struct{})}
	a.mu.Lock()
	if a.over != nil {
		defer a.mu.Unlock()
		return nil, a.over
	}
	if len(r.ID) == 0 || a.waiting[string(r.ID)] != nil {
		a.mu.Unlock()
		return nil, errors.New("a relayed line needs an id that no other call has")
	}
	a.waiting[string(r.ID)] = reply
	a.mu.Unlock()
	if err := a.Send(text); err != nil {
		return nil, err
	}
	select {
	case <-reply.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if reply.answer == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		return nil, a.over
	}
	return reply.answer.Line, nil
}

// Send writes one line as it is.
func (a *Agent) Send(text []byte) error {
	if err := a.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := a.conn.Write(append(slices.Clone(text), '\n'))
	return err
}

// Next waits for the next line that answers no call of Start: an answer to a
// line of Send, or an event.
func (a *Agent) Next() ([]byte, error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		a.mu.Lock()
		changed, over := a.changed, a.over
		if len(a.stray) > 0 {
			text := a.stray[0]
			a.stray = a.stray[1:]
			a.mu.Unlock()
			return text, nil
		}
		a.mu.Unlock()
		if over != nil {
			return nil, over
		}
		select {
		case <-changed:
		case <-late.C:
			return nil, errors.New("no line came within " + patience.String())
		}
	}
}

// Close ends the line without a word, as a bridge that dies does.
func (a *Agent) Close() {
	a.conn.Close()
	a.end.Wait()
}
