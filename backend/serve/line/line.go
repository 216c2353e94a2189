package line

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/agent"
	"chaperone/backend/fault"
	"chaperone/backend/wire"
)

// line is one connection. What has no lock belongs to the goroutine of Serve.
type line struct {
	door *Door
	conn io.ReadWriteCloser

	me         agent.Connected
	known      bool // me is set
	subscribed bool

	// owned are the goroutines that Serve waits for: calls, and readers of events.
	calls, readers sync.WaitGroup

	writing sync.Mutex

	mu      sync.Mutex
	pending []*pending
}

// pending is a call that has no answer yet.
type pending struct {
	key    string // its id without blanks; "" when it has none that could name it
	begun  *action.Begun
	cancel context.CancelCauseFunc
}

// incoming is one line as it was read.
type incoming struct {
	request wire.Request
	err     error
}

// Serve speaks with one agent until it says bye, its stream ends, or ctx does;
// closing conn must end a Read of it. When Serve returns, no call of the line is
// under way and the agent has left.
//
// At the end of the stream without bye the calls under way are cancelled at
// once; at the end of ctx they fail with fault.BrowserDisposing.
func (d *Door) Serve(ctx context.Context, conn io.ReadWriteCloser) {
	l := &line{door: d, conn: conn}
	// Calls are ended with a reason, so they do not simply inherit the end of ctx.
	work, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	in, stopReading := l.read(ctx)
	saidBye := l.listen(ctx, work, in, end)

	l.waitFor(&l.calls, leaving)
	if saidBye != nil {
		l.answer(*saidBye, nil, nil, nil)
	}
	end(context.Canceled) // readers of events
	conn.Close()
	stopReading()
	if l.known {
		// The line may end because ctx did; leaving is still to be written down.
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaving)
		l.me.Leave(bounded)
		cancel()
	}
	l.calls.Wait()
	l.readers.Wait()
}

// read reads lines until the stream ends, then closes the channel. stop must be
// called after the stream was closed. It closes the stream itself when the line
// still stands a while after ctx has ended, because its caller does not read.
func (l *line) read(ctx context.Context) (_ <-chan incoming, stop func()) {
	in, quit := make(chan incoming), make(chan struct{})
	l.readers.Go(func() {
		select {
		case <-ctx.Done():
		case <-quit:
			return
		}
		late := time.NewTimer(parting)
		defer late.Stop()
		select {
		case <-late.C:
			l.conn.Close()
		case <-quit:
		}
	})
	l.readers.Go(func() {
		defer close(in)
		r := wire.NewReader(l.conn)
		for {
			var x incoming
			text, err := r.Next()
			switch {
			case err == nil:
				x.request, x.err = wire.Parse(text)
			case errors.Is(err, wire.ErrTooLong):
				x.err = err
			default:
				return
			}
			select {
			case in <- x:
			case <-quit:
				return
			}
		}
	})
	return in, func() { close(quit) }
}

// listen handles lines in the order of their arrival until no more are taken. It
// has seen to it that what is under way ends. It returns the id of bye, if it was said.
func (l *line) listen(ctx, work context.Context, in <-chan incoming, end context.CancelCauseFunc) (bye *json.RawMessage) {
	for bye == nil {
		select {
		case <-ctx.Done():
			end(closing())
			return nil
		case x, ok := <-in:
			switch {
			case !ok:
				end(fault.New(fault.Cancelled, "the agent's line has ended"))
				return nil
			case x.err != nil:
				l.answer(x.request.ID, nil, x.err, nil)
			case x.request.Method == wire.MethodBye:
				if _, err := action.Decode[nothing](specOf(wire.MethodBye), x.request.Args); err != nil {
					l.answer(x.request.ID, nil, err, nil)
					continue
				}
				bye = &x.request.ID
			default:
				l.handle(work, x.request)
			}
		}
	}
	l.mu.Lock()
	for _, p := range l.pending {
		p.begun.Call().Budget.Limit(finishing)
	}
	l.mu.Unlock()
	idle := make(chan struct{})
	l.readers.Go(func() { l.calls.Wait(); close(idle) })
	late := time.NewTimer(finishingAll)
	defer late.Stop()
	for {
		select {
		case <-idle:
			return bye
		case <-late.C:
			end(fault.New(fault.Cancelled, "the line said bye, and the call took longer than it could wait"))
			return bye
		case <-ctx.Done():
			end(closing())
			return bye
		case x, ok := <-in:
			if !ok {
				end(fault.New(fault.Cancelled, "the agent's line has ended"))
				return nil
			}
			l.answer(x.request.ID, nil, fault.New(fault.InvalidArguments, "nothing is taken after bye"), nil)
		}
	}
}

func closing() error {
	return fault.New(fault.BrowserDisposing, "the host is closing").WithHint("Come back when it runs again.")
}

func (l *line) handle(work context.Context, r wire.Request) {
	var result any
	var err error
	switch r.Method {
	case wire.MethodHello:
		result, err = l.hello(work, r.Args)
	case wire.MethodPing:
		result, err = action.Decode[nothing](specOf(r.Method), r.Args)
	case wire.MethodCancel:
		result, err = l.cancel(r.Args)
	case wire.MethodMethods:
		result, err = l.methods(r.Args)
	case wire.MethodStatus:
		if _, err = action.Decode[nothing](specOf(r.Method), r.Args); err == nil {
			result = l.door.Status()
		}
	case wire.MethodSubscribe:
		l.subscribe(work, r)
		return
	default:
		l.begin(work, r)
		return
	}
	l.answer(r.ID, result, err, nil)
}

func (l *line) hello(work context.Context, raw json.RawMessage) (any, error) {
	args, err := action.Decode[helloArgs](specOf(wire.MethodHello), raw)
	if err != nil {
		return nil, err
	}
	if err := checkHello(args); err != nil {
		return nil, err
	}
	if l.known {
		return nil, fault.New(fault.InvalidArguments, "this line already has an agent: %s", l.me.Agent).
			WithHint("Say hello once, first on a line; open another line for another agent.")
	}
	if err := l.connect(work, args); err != nil {
		return nil, err
	}
	return helloResult{Protocol: wire.Protocol, Agent: l.me.Agent, Session: l.me.Session, Version: l.door.Version}, nil
}

func (l *line) connect(work context.Context, args helloArgs) error {
	bounded, cancel := context.WithTimeout(work, connecting)
	defer cancel()
	me, err := l.door.Agents.Connect(bounded, args.Agent)
	if err != nil {
		return err
	}
	l.me, l.known = me, true
	return nil
}

func (l *line) methods(raw json.RawMessage) (any, error) {
	args, err := action.Decode[methodsArgs](specOf(wire.MethodMethods), raw)
	if err != nil {
		return nil, err
	}
	out := methodsResult{Protocol: wire.Protocol}
	for _, s := range slices.Concat(Methods(), l.door.Dispatcher.Offered(l.actor())) {
		m := method{Method: s.Method, Verb: s.Verb, Summary: s.Summary, Effect: s.Effect, Args: s.Args}
		if args.Results {
			m.Result = s.Result
		}
		out.Methods = append(out.Methods, m)
	}
	return out, nil
}

// actor is who asks on this line: an agent, whatever a message says.
func (l *line) actor() action.Actor { return action.Actor{Agent: l.me.Agent, Line: l.me.Line} }

// begin gives a call of the catalogue its place in line and sees it through.
func (l *line) begin(work context.Context, r wire.Request) {
	begun, err := l.admit(work, r)
	if err != nil {
		l.answer(r.ID, nil, withOwn(err), nil)
		return
	}
	ctx, cancel := context.WithCancelCause(work)
	p := &pending{key: keyOf(r.ID), begun: begun, cancel: cancel}
	l.mu.Lock()
	l.pending = append(l.pending, p)
	l.mu.Unlock()
	l.calls.Go(func() {
		defer cancel(nil)
		out, err := begun.Do(ctx)
		if e := fault.From(err); e != nil && e.Code == fault.Internal {
			l.door.Notes.Error("a call failed by a defect", "method", r.Method, "call", begun.Call().ID, "cause", e.Unwrap())
		}
		l.answer(r.ID, out, err, func() { l.settled(p) })
	})
}

func (l *line) admit(work context.Context, r wire.Request) (*action.Begun, error) {
	key := keyOf(r.ID)
	l.mu.Lock()
	open := len(l.pending)
	twice := key != "" && slices.ContainsFunc(l.pending, func(p *pending) bool { return p.key == key })
	l.mu.Unlock()
	switch {
	case twice:
		return nil, fault.New(fault.InvalidArguments, "a call with this id is under way").WithHint("Give each call an id of its own.")
	case open >= atOnce:
		return nil, fault.New(fault.Busy, "%d calls are under way on this line", open).WithHint("Wait for an answer, then go on.")
	}
	offered := func(s *action.Spec) bool { return s.Method == r.Method }
	if !l.known && slices.ContainsFunc(l.door.Dispatcher.Offered(l.actor()), offered) {
		if err := l.connect(work, helloArgs{}); err != nil {
			return nil, err
		}
	}
	return l.door.Dispatcher.Begin(l.actor(), r.Method, r.Args)
}

func (l *line) settled(p *pending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = slices.DeleteFunc(l.pending, func(q *pending) bool { return q == p })
}

func (l *line) cancel(raw json.RawMessage) (any, error) {
	args, err := action.Decode[cancelArgs](specOf(wire.MethodCancel), raw)
	if err != nil {
		return nil, err
	}
	key := keyOf(args.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.pending {
		if key != "" && p.key == key {
			p.cancel(fault.New(fault.Cancelled, "the call was cancelled"))
			return cancelResult{Cancelled: true}, nil
		}
	}
	return cancelResult{}, nil
}

// keyOf returns what tells ids apart: their text without blanks. The absent id
// and null name no call.
func keyOf(id json.RawMessage) string {
	var b bytes.Buffer
	if len(id) == 0 || json.Compact(&b, id) != nil || b.String() == "null" {
		return ""
	}
	return b.String()
}

// answer writes a response. first, if any, is called when it is this answer's
// turn to be written, so that the caller finds its id free when it reads the answer.
func (l *line) answer(id json.RawMessage, result any, err error, first func()) {
	text, broken := wire.Marshal(wire.Answer(id, result, err))
	if broken != nil {
		l.door.Notes.Error("an answer could not be written as JSON", "cause", broken)
		text, _ = wire.Marshal(wire.Answer(id, nil, broken))
	}
	if len(text) > wire.MaxLine {
		tooLong := fault.New(fault.LineTooLong, "the answer would be longer than %d bytes", wire.MaxLine).
			WithHint("Ask for less at once.").WithEffect(fault.EffectCommitted)
		text, _ = wire.Marshal(wire.Answer(id, nil, tooLong))
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	if first != nil {
		first()
	}
	l.write(text)
}

// write writes one line. The lock for writing is held. A caller that does not
// read loses its line; to those that wait for the lock it is closed then.
func (l *line) write(text []byte) {
	timer := time.AfterFunc(patience, func() {
		l.door.Notes.Warn("a line was dropped: its answers are not read", "agent", l.me.Agent)
		l.conn.Close()
	})
	defer timer.Stop()
	if _, err := l.conn.Write(append(text, '\n')); err != nil {
		l.conn.Close() // what is left of the line cannot be understood
	}
}

// waitFor waits for the group, but no longer than d; it reports a laggard, so
// that the agent can leave, which closes its window under it.
func (l *line) waitFor(group *sync.WaitGroup, d time.Duration) {
	idle := make(chan struct{})
	l.readers.Go(func() { group.Wait(); close(idle) })
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-idle:
	case <-late.C:
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, p := range l.pending {
			l.door.Notes.Error("a call does not end", "method", p.begun.Call().Spec.Method, "call", p.begun.Call().ID)
		}
	}
}
