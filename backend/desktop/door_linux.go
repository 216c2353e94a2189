package desktop

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// Doors have display numbers from first on, where nobody else looks for one.
	first, count = 20000, 10000
	// pressTime is how long a press on a window lets it have the focus. The window
	// manager gives it a moment later; a menu wants the pointer at once.
	pressTime = time.Second
	// chunk is how much is carried at once, in bytes.
	chunk = 64 << 10
	// mostFiles is how many files Linux lets come at once.
	mostFiles = 253
)

// A Door is a display of its own for one Chromium. What comes in goes on to the
// real display, but for what would take the focus.
type Door struct {
	server  server
	names   names
	number  int
	listen  *net.UnixListener
	control net.Conn // keeps the names valid: a server forgets them when its last client goes
	log     *slog.Logger
	wg      sync.WaitGroup

	mu     sync.Mutex
	focus  uint32    // the Chromium's window that has the focus, 0 for none
	press  time.Time // the person's last on one of its windows
	conns  map[net.Conn]bool
	closed bool
}

// Open opens a door to the display that env names. It returns nil where there
// is no X server, or where no door can be made; a Chromium then goes to its
// display directly, and log says why.
func Open(env func(string) string, log *slog.Logger) *Door {
	display := env("DISPLAY")
	if display == "" {
		return nil
	}
	s, err := parse(display)
	var d *Door
	if err == nil {
		s.cookie = authority(env, s.number)
		d, err = open(s, log)
	}
	if err != nil {
		log.Warn("windows of agents may take the focus on this display", "err", err)
		return nil
	}
	return d
}

func open(s server, log *slog.Logger) (*Door, error) {
	c, err := s.dial()
	if err != nil {
		return nil, err
	}
	d := &Door{server: s, control: c, log: log, conns: map[net.Conn]bool{}}
	if d.names, err = s.ask(c); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if err := d.bind(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	d.wg.Go(func() { _, _ = io.Copy(io.Discard, c) }) // some events go to every client; ends with Close or the server
	d.wg.Go(d.accept)
	return d, nil
}

// bind takes a free number.
func (d *Door) bind() error {
	sweep()
	var err error
	for range 20 {
		d.number = first + rand.IntN(count)
		d.listen, err = net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: socketOf(d.number)})
		if err == nil {
			return os.Chmod(socketOf(d.number), 0o600) // besides, accept looks at who comes
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return err
		}
	}
	return err
}

func socketOf(number int) string { return filepath.Join(socketDir, "X"+strconv.Itoa(number)) }

// sweep removes this user's doors behind which nobody is: a host that was killed leaves them.
func sweep() {
	entries, _ := os.ReadDir(socketDir)
	for _, e := range entries {
		n, err := strconv.Atoi(strings.TrimPrefix(e.Name(), "X"))
		if err != nil || n < first || n >= first+count {
			continue
		}
		c, err := net.DialTimeout("unix", socketOf(n), time.Second)
		if err == nil {
			_ = c.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			_ = os.Remove(socketOf(n)) // another user's stays, by the directory's sticky bit
		}
	}
}

// Display is what the Chromium's DISPLAY must be; empty for a nil Door.
func (d *Door) Display() string {
	if d == nil {
		return ""
	}
	return ":" + strconv.Itoa(d.number) + d.server.screen
}

// Close shuts the door and what came in by it, and waits. A nil Door may be closed.
func (d *Door) Close() {
	if d == nil {
		return
	}
	d.mu.Lock()
	d.closed = true
	_ = errors.Join(d.listen.Close(), d.control.Close()) // closed already is as good
	for c := range d.conns {
		_ = c.Close()
	}
	d.mu.Unlock()
	d.wg.Wait()
}

func (d *Door) accept() {
	for {
		c, err := d.listen.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			d.log.Warn("a Chromium's way to its display", "err", err)
			return
		}
		d.wg.Go(func() {
			if err := d.serve(c); err != nil {
				d.log.Warn("a Chromium's way to its display", "err", err)
			}
		})
	}
}

// keep remembers c so that Close can end it; false when the door is shut.
func (d *Door) keep(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		_ = c.Close()
		return false
	}
	d.conns[c] = true
	return true
}

func (d *Door) drop(c net.Conn) {
	d.mu.Lock()
	delete(d.conns, c)
	d.mu.Unlock()
	_ = c.Close()
}

// serve joins one client with the server until either goes.
func (d *Door) serve(client *net.UnixConn) error {
	if !d.keep(client) {
		return nil
	}
	defer d.drop(client)
	if err := sameUser(client); err != nil {
		return err
	}
	if err := client.SetReadDeadline(time.Now().Add(answerTime)); err != nil {
		return nil // it has gone
	}
	h, err := readHello(client)
	if err != nil {
		return nil // a look whether somebody listens
	}
	_ = client.SetReadDeadline(time.Time{})

	real, err := d.server.dial()
	if err != nil {
		return err
	}
	if !d.keep(real) {
		return nil
	}
	defer d.drop(real)
	if d.server.cookie != nil { // the client looks for one under the door's number
		h.kind, h.cookie = []byte(cookieKind), d.server.cookie
	}
	if _, err := real.Write(h.bytes()); err != nil {
		return err
	}
	welcome, accepted, err := readWelcome(real, h.order)
	if err != nil {
		return err
	}
	if _, err := client.Write(welcome); err != nil || !accepted {
		return err
	}

	up := filter{order: h.order, names: d.names, may: d.present}
	down := watcher{order: h.order, names: d.names, focused: d.focused, pressed: d.pressed}
	over := make(chan struct{})
	go func() {
		defer close(over)
		carry(client, real, up.pass)
		_ = real.Close() // ends the other direction
	}()
	carry(real, client, func(b []byte) int { down.read(b); return len(b) })
	_ = client.Close()
	<-over
	return nil
}

// present reports whether the person is in this Chromium. What it does with the
// focus then is between its own windows.
func (d *Door) present() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.focus != 0 || !d.press.IsZero() && time.Since(d.press) < pressTime
}

// focused takes in that a window has the focus, or 0 for none of them.
func (d *Door) focused(window uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.focus = window
	if window == 0 {
		d.press = time.Time{} // the person has gone elsewhere
	}
}

func (d *Door) pressed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.press = time.Now()
}

// carry moves bytes, and the files that come with them, from one connection to
// another until either ends. pass sees all that is there and says how much may go on.
func carry(from, to net.Conn, pass func([]byte) int) {
	in, _ := from.(*net.UnixConn)
	out, _ := to.(*net.UnixConn)
	buf, oob := make([]byte, chunk), make([]byte, syscall.CmsgSpace(4*mostFiles))
	var files []int // received, not yet sent
	defer func() { closeAll(files) }()
	for held := 0; ; {
		var n, oobn int
		var err error
		if in != nil {
			n, oobn, _, _, err = in.ReadMsgUnix(buf[held:], oob)
		} else {
			n, err = from.Read(buf[held:])
		}
		if oobn > 0 {
			files = append(files, rights(oob[:oobn])...)
		}
		if n == 0 || err != nil {
			return
		}
		ready := pass(buf[:held+n])
		if ready > 0 {
			sent := 0
			if len(files) > 0 && out != nil {
				// The files belong to these bytes, or to ones after them.
				sent, _, err = out.WriteMsgUnix(buf[:ready], syscall.UnixRights(files...), nil)
				closeAll(files)
				files = nil
			}
			if err == nil && sent < ready {
				_, err = to.Write(buf[sent:ready])
			}
			if err != nil {
				return
			}
		}
		held = copy(buf, buf[ready:held+n])
	}
}

func rights(oob []byte) []int {
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	var files []int
	for _, m := range messages {
		if f, err := syscall.ParseUnixRights(&m); err == nil {
			files = append(files, f...)
		}
	}
	return files
}

func closeAll(files []int) {
	for _, f := range files {
		_ = syscall.Close(f)
	}
}

// sameUser refuses other users of the machine, whatever the socket's mode says.
func sameUser(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var cred *syscall.Ucred
	err = errors.Join(raw.Control(func(fd uintptr) {
		var e error
		if cred, e = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); e != nil {
			err = e
		}
	}), err)
	if err != nil {
		return err
	}
	if int(cred.Uid) != os.Getuid() {
		return fmt.Errorf("user %d was turned away", cred.Uid)
	}
	return nil
}
