package chrome

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"sync"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"

	"chaperone/backend/fault"
)

// maxQueued bounds the commands that wait for a Chromium that does not read, in bytes.
const maxQueued = 64 << 20

// A conn is the protocol over one pipe: commands out, replies and events in. It
// has two loops, read and write, that its owner runs and waits for.
type conn struct {
	handler func(Event)
	root    *Session

	mu       sync.Mutex
	next     int64
	pending  map[int64]*Reply
	sessions map[target.SessionID]*Session
	queue    []byte
	ended    error // why nothing goes through any more; nil while it lives

	wake chan struct{} // holds one token when queue has something
	stop chan struct{} // closed with ended
}

func newConn(handler func(Event)) *conn {
	if handler == nil {
		handler = func(Event) {}
	}
	c := &conn{
		handler:  handler,
		pending:  map[int64]*Reply{},
		sessions: map[target.SessionID]*Session{},
		wake:     make(chan struct{}, 1),
		stop:     make(chan struct{}),
	}
	c.root = c.session("")
	return c
}

// session returns the session of that name, made on demand.
func (c *conn) session(id target.SessionID) *Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[id]
	if s == nil {
		s = &Session{conn: c, id: id, gone: make(chan struct{})}
		if c.ended != nil {
			close(s.gone)
			return s
		}
		c.sessions[id] = s
	}
	return s
}

// send queues a command and returns its reply.
func (c *conn) send(s *Session, method string, params any) *Reply {
	r := &Reply{method: method, done: make(chan struct{})}
	var body []byte
	if params != nil {
		var err error
		if body, err = jsonv2.Marshal(params, lenient()); err != nil {
			r.settle(nil, fault.New(fault.Internal, "encoding %s: %w", method, err))
			return r
		}
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended != nil:
		r.settle(nil, c.ended)
		return r
	case s.isGone():
		r.settle(nil, errSessionGone())
		return r
	case len(c.queue)+len(body) > maxQueued:
		r.settle(nil, fault.New(fault.Busy, "the browser does not take any more commands"))
		return r
	}
	c.next++
	r.session = s
	c.pending[c.next] = r
	c.queue = append(c.queue, `{"id":`...)
	c.queue = strconv.AppendInt(c.queue, c.next, 10)
	c.queue = append(c.queue, `,"method":`...)
	c.queue = strconv.AppendQuote(c.queue, method)
	if s.id != "" {
		c.queue = append(c.queue, `,"sessionId":`...)
		c.queue = strconv.AppendQuote(c.queue, string(s.id))
	}
	if body != nil {
		c.queue = append(c.queue, `,"params":`...)
		c.queue = append(c.queue, body...)
	}
	c.queue = append(c.queue, '}', 0)
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return r
}

// write passes queued commands on, as many at once as there are, until the
// connection ends or w fails; the reader learns of a broken pipe on its own.
func (c *conn) write(w io.Writer) {
	var spare []byte
	for {
		select {
		case <-c.wake:
		case <-c.stop:
			return
		}
		c.mu.Lock()
		batch := c.queue
		c.queue = spare[:0]
		c.mu.Unlock()
		if _, err := w.Write(batch); err != nil {
			return
		}
		if spare = batch; cap(spare) > 1<<20 {
			spare = nil
		}
	}
}

// read takes messages until they end, and returns why: nil at a regular end,
// else what was wrong with what came. The connection has ended when it returns.
func (c *conn) read(frames *frameReader) (err error) {
	defer func() { c.end(err) }()
	for {
		msg, err := frames.next()
		switch {
		case errors.Is(err, errTooLong):
			return err
		case err != nil:
			return nil
		case len(bytes.TrimSpace(msg)) == 0:
			continue
		}
		e, err := open(msg)
		if err != nil {
			return err
		}
		switch {
		case e.id != 0:
			c.answer(e)
		case e.method != nil:
			c.event(e)
		}
	}
}

func (c *conn) answer(e envelope) {
	c.mu.Lock()
	r := c.pending[e.id]
	delete(c.pending, e.id)
	c.mu.Unlock()
	if r == nil {
		return
	}
	if e.fail == nil {
		r.settle(e.result, nil)
		return
	}
	fail := new(CDPError)
	if err := jsonv2.Unmarshal(e.fail, fail, lenient()); err != nil {
		fail.Message = "an error that cannot be read"
	}
	if fail.Code == codeNoSession {
		r.settle(nil, errSessionGone())
		return
	}
	r.settle(nil, fail)
}

func (c *conn) event(e envelope) {
	s := c.session(target.SessionID(e.session))
	ev := Event{Session: s, Method: string(e.method), Params: e.params}
	switch ev.Method {
	case "Target.attachedToTarget":
		var v struct {
			SessionID  target.SessionID `json:"sessionId"`
			TargetInfo struct {
				TargetID target.ID `json:"targetId"`
			} `json:"targetInfo"`
		}
		if ev.Decode(&v) == nil && v.SessionID != "" {
			child := c.session(v.SessionID)
			c.mu.Lock()
			child.parent, child.target = s, v.TargetInfo.TargetID
			c.mu.Unlock()
		}
	case "Target.detachedFromTarget":
		var v struct {
			SessionID target.SessionID `json:"sessionId"`
		}
		if ev.Decode(&v) == nil && v.SessionID != "" {
			c.drop(func(s *Session) bool { return s.id == v.SessionID })
		}
	case "Target.targetDestroyed":
		var v struct {
			TargetID target.ID `json:"targetId"`
		}
		if ev.Decode(&v) == nil && v.TargetID != "" {
			c.drop(func(s *Session) bool { return s.target == v.TargetID })
		}
	}
	c.handler(ev)
}

// drop ends the sessions that are chosen, and those that hang from them.
func (c *conn) drop(chosen func(*Session) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for again := true; again; {
		again = false
		for id, s := range c.sessions {
			if id != "" && (chosen(s) || s.parent != nil && s.parent.isGone()) {
				close(s.gone)
				delete(c.sessions, id)
				again = true
			}
		}
	}
	for id, r := range c.pending {
		if r.session.isGone() {
			delete(c.pending, id)
			r.settle(nil, errSessionGone())
		}
	}
}

// end fails everything that waits, and whatever comes later.
func (c *conn) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return
	}
	gone := fault.New(fault.BrowserGone, "the browser has ended")
	if why != nil {
		gone = fault.New(fault.BrowserGone, "the browser was ended: %w", why)
	}
	c.ended = gone.WithHint("The next action starts a fresh window.")
	close(c.stop)
	for id, s := range c.sessions {
		close(s.gone)
		delete(c.sessions, id)
	}
	for id, r := range c.pending {
		delete(c.pending, id)
		r.settle(nil, c.ended)
	}
	c.queue = nil
}

// lenient lets text of pages pass that is not valid UTF-8.
func lenient() jsonv2.Options {
	return jsonv2.JoinOptions(jsonv2.DefaultOptionsV2(), jsonv2.AllowInvalidUTF8(true))
}
