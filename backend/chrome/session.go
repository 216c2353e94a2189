package chrome

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"

	"chaperone/backend/fault"
)

// A Session is a line to one target, or to the browser itself, on the shared pipe.
type Session struct {
	conn *conn
	id   target.SessionID
	gone chan struct{}

	// What Target.attachedToTarget told, if it came; guarded by conn.mu.
	parent *Session
	target target.ID
}

// ID returns the session's name; empty for the browser itself.
func (s *Session) ID() target.SessionID { return s.id }

// Send queues a command and returns at once, so that commands can be pipelined.
// It never blocks and may be called anywhere, a Handler included. What goes
// wrong is told by the reply.
func (s *Session) Send(method string, params any) *Reply { return s.conn.send(s, method, params) }

// Call is Send and Wait.
func (s *Session) Call(ctx context.Context, method string, params, result any) error {
	return s.Send(method, params).Wait(ctx, result)
}

// Gone is closed when the session was detached, its target destroyed, or the
// connection ended. Replies that wait have failed by then.
func (s *Session) Gone() <-chan struct{} { return s.gone }

func (s *Session) isGone() bool {
	select {
	case <-s.gone:
		return true
	default:
		return false
	}
}

// Do calls a typed command of cdproto.
func Do[P, R any](ctx context.Context, s *Session, c cdp.Command[P, R], params P) (R, error) {
	var result R
	err := s.Call(ctx, c.Method, params, &result)
	return result, err
}

// A Reply is the answer to one command, now or later.
type Reply struct {
	method  string
	session *Session // nil when nothing was sent; guarded by conn.mu
	done    chan struct{}
	result  jsonv2.Value
	err     error
}

func (r *Reply) settle(result jsonv2.Value, err error) {
	r.result, r.err = result, err
	close(r.done)
}

// Done is closed when the answer is there, or will never come.
func (r *Reply) Done() <-chan struct{} { return r.done }

// Wait waits for the answer and decodes it into result, which may be nil. It
// may be called more than once. Errors: *CDPError when Chromium refused;
// fault.BrowserGone when the session or the browser ended; ctx's error when ctx
// ended first, and then the command may still take effect.
func (r *Reply) Wait(ctx context.Context, result any) error {
	select {
	case <-r.done:
	default:
		select {
		case <-r.done:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", r.method, ctx.Err())
		}
	}
	if r.err != nil {
		return r.err
	}
	if result == nil {
		return nil
	}
	if err := jsonv2.Unmarshal(r.result, result, lenient()); err != nil {
		return fmt.Errorf("decoding the answer to %s: %w", r.method, err)
	}
	return nil
}

// A CDPError is Chromium's refusal of a command.
type CDPError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (e *CDPError) Error() string { return fmt.Sprintf("Chromium refused: %s (%d)", e.Message, e.Code) }

// codeNoSession is Chromium's answer to a command for a session that ended.
const codeNoSession = -32001

func errSessionGone() error {
	return fault.New(fault.BrowserGone, "the tab or frame is gone").
		WithHint("Read the state to see which tabs are open.")
}

// An Event is something that Chromium told unasked.
type Event struct {
	// Session is the line that it came on.
	Session *Session
	Method  string
	// Params is raw; Decode reads it.
	Params jsonv2.Value
}

// Decode reads the event's parameters into v.
func (e Event) Decode(v any) error {
	if err := jsonv2.Unmarshal(e.Params, v, lenient()); err != nil {
		return fmt.Errorf("decoding %s: %w", e.Method, err)
	}
	return nil
}
