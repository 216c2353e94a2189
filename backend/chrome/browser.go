package chrome

import (
	"context"
	"os"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/target"

	"chaperone/backend/fault"
)

const (
	// closeStep bounds each step of Close. Chromium ends within half a second of
	// either, also with a page that hangs or would ask.
	closeStep = 2 * time.Second
	// drainTimeout bounds what is read after the process has ended; the pipe ends with it.
	drainTimeout = time.Second
)

// A Browser is a Chromium that runs, or ran.
type Browser struct {
	conn    *conn
	pid     int
	product string
	in, out *os.File // our ends of the pipes; Chromium ends when out is closed
	asked   atomic.Bool
	exited  chan struct{} // the process has ended
	drained chan struct{} // the read loop has ended
	written chan struct{} // the write loop has ended
	done    chan struct{} // nothing is left
	exit    Exit          // set before exited is closed
}

// An Exit tells how a browser ended.
type Exit struct {
	// Code is the exit status, -1 after a signal.
	Code int
	// Signal is what killed it, in words; empty when it ended by itself.
	Signal string
	// Asked: Close was called before it ended.
	Asked bool
}

// Root returns the session of the browser itself.
func (b *Browser) Root() *Session { return b.conn.root }

// Session returns the session of that name, made on demand. One that has ended
// is not remembered: a new one of its name answers with fault.BrowserGone.
func (b *Browser) Session(id target.SessionID) *Session { return b.conn.session(id) }

// PID returns the process id of the browser, which leads a process group.
func (b *Browser) PID() int { return b.pid }

// Product returns name and version, such as "Chrome/156.0.8078.114".
func (b *Browser) Product() string { return b.product }

// Done is closed when the process has ended and every event it sent was handled.
// No process and no goroutine of the browser is left then.
func (b *Browser) Done() <-chan struct{} { return b.done }

// Exit tells how the browser ended. It is meaningful once Done is closed.
func (b *Browser) Exit() Exit {
	select {
	case <-b.done:
		return b.exit
	default:
		return Exit{}
	}
}

// Close ends the browser and waits until Done: it asks, closes the pipe after
// two seconds, and kills after two more, or at once when ctx ends. It may be
// called often and by many. Its error says that something is left even so.
func (b *Browser) Close(ctx context.Context) error {
	b.asked.Store(true)
	b.Root().Send("Browser.close", nil)
	if b.ends(ctx, closeStep) {
		return nil
	}
	_ = b.out.Close() // closed already is as good
	if b.ends(ctx, closeStep) {
		return nil
	}
	b.kill()
	if b.ends(context.WithoutCancel(ctx), closeStep) {
		return nil
	}
	return fault.New(fault.Internal, "the browser, process %d, does not end", b.pid)
}

// ends waits until Done, within limits.
func (b *Browser) ends(ctx context.Context, limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-b.done:
		return true
	case <-ctx.Done():
	case <-t.C:
	}
	return false
}

// kill ends the processes, unless they have ended: then their number may be
// another's.
func (b *Browser) kill() {
	select {
	case <-b.exited:
	default:
		killGroup(b.pid)
	}
}

// read runs the read loop, and sees to it that the process ends with the connection.
func (b *Browser) read() {
	defer close(b.drained)
	if err := b.conn.read(newFrameReader(b.in)); err != nil {
		b.kill() // it speaks nonsense
		return
	}
	_ = b.out.Close() // closed already is as good
	t := time.NewTimer(closeStep)
	defer t.Stop()
	select {
	case <-b.exited:
	case <-t.C:
		b.kill() // it has let go of the pipe, but lingers
	}
}

// write runs the write loop.
func (b *Browser) write() {
	defer close(b.written)
	b.conn.write(b.out)
}
