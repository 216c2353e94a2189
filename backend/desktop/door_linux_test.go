package desktop

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for something that comes at once.
const patience = 10 * time.Second

// A fakeServer takes connections as an X server does and hands them over.
type fakeServer struct {
	server
	conns chan *net.UnixConn // after their hello
	hello chan hello
}

func newFakeServer(t *testing.T) *fakeServer {
	f := &fakeServer{server: server{network: "unix", address: filepath.Join(t.TempDir(), "x"), number: "5", cookie: []byte("sesame!")},
		conns: make(chan *net.UnixConn), hello: make(chan hello, 1)}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: f.address})
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(patience))
			h, err := readHello(c)
			if err != nil {
				t.Error(err)
				return
			}
			f.hello <- h
			w := make([]byte, 44)
			w[0] = 1
			h.order.PutUint16(w[6:], uint16(len(w)-8)/4)
			h.order.PutUint32(w[12:], 0x400000)
			h.order.PutUint32(w[40:], 0x50d)
			if _, err := c.Write(w); err != nil {
				t.Error(err)
				return
			}
			f.conns <- c
		}
	}()
	t.Cleanup(func() { l.Close(); <-over })
	return f
}

// open opens a door to the server, which answers its questions.
func (f *fakeServer) open(t *testing.T) (d *Door, control *net.UnixConn) {
	t.Helper()
	opened := make(chan error, 1)
	go func() {
		var err error
		d, err = open(f.server, slog.New(slog.DiscardHandler))
		opened <- err
	}()
	h, control := <-f.hello, <-f.conns
	if string(h.cookie) != "sesame!" {
		t.Errorf("the door's cookie is %q", h.cookie)
	}
	asked := make([]byte, len(questions(le, 0, 0)))
	if _, err := io.ReadFull(control, asked); err != nil {
		t.Fatal(err)
	}
	if want := questions(le, 0x400000, 0x50d); !bytes.Equal(asked, want) {
		t.Fatalf("asked\n%x, want\n%x", asked, want)
	}
	answers := head(34, func([]byte) {}) // an event that every client gets
	for _, word := range []uint32{some.activeWindow, some.userTime, 1 | uint32(some.input)<<8} {
		answers = append(answers, head(reply, func(m []byte) { le.PutUint32(m[8:], word) })...)
	}
	if _, err := control.Write(answers); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	want := some
	want.hidden = 0x400000
	if d.names != want {
		t.Errorf("the names are %+v, want %+v", d.names, want)
	}
	return d, control
}

// enter goes in by the door, as Chromium does: without a cookie.
func (f *fakeServer) enter(t *testing.T, d *Door) (client, real *net.UnixConn) {
	t.Helper()
	c, err := net.Dial("unix", socketOf(d.number))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Write(hello{order: le, head: [12]byte{0: 'l', 2: 11}}.bytes()); err != nil {
		t.Fatal(err)
	}
	if h := <-f.hello; string(h.kind) != cookieKind || string(h.cookie) != "sesame!" {
		t.Errorf("the server was shown %q %q", h.kind, h.cookie)
	}
	real = <-f.conns
	if _, ok, err := readWelcome(c, le); err != nil || !ok {
		t.Fatalf("not let in: %v", err)
	}
	return c.(*net.UnixConn), real
}

// arrives reads what must come out of c.
func arrives(t *testing.T, c net.Conn, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%d bytes came, %x, %v; want %x", n, got[:n], err, want)
	}
}

func put(t *testing.T, c net.Conn, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

func TestDoorHoldsBackUntilThePersonIsThere(t *testing.T) {
	f := newFakeServer(t)
	d, _ := f.open(t)
	client, real := f.enter(t, d)
	second, realSecond := f.enter(t, d)
	ask := message(le, some.activeWindow)
	quiet := bytes.Clone(ask)
	quiet[0] = opNoOperation
	event := func(kind uint16) {
		e := generic(some.input, kind, func(m []byte) { m[19] = 3; m[16] = 1; le.PutUint32(m[24:], 7) })
		put(t, realSecond, e)
		arrives(t, second, e)
	}
	for _, step := range []struct {
		kind uint16
		want []byte
	}{{0, quiet}, {focusIn, ask}, {focusOut, quiet}, {buttonPress, ask}, {focusOut, quiet}} {
		if step.kind != 0 {
			event(step.kind) // one connection tells of the person, and the other may have the focus
		}
		put(t, client, ask)
		arrives(t, real, step.want)
	}
}

// Pictures and buffers go as open files beside the bytes, both ways.
func TestDoorPassesFiles(t *testing.T) {
	f := newFakeServer(t)
	d, _ := f.open(t)
	client, real := f.enter(t, d)
	for _, way := range []struct{ from, to *net.UnixConn }{{client, real}, {real, client}} {
		file, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString("a picture"); err != nil {
			t.Fatal(err)
		}
		sent := words(le, 1, 0, 0, 0, 0, 0, 0, 0, 0) // 32 bytes: a request, and a reply too
		le.PutUint32(sent[4:], 0)
		if _, _, err := way.from.WriteMsgUnix(sent, syscall.UnixRights(int(file.Fd())), nil); err != nil {
			t.Fatal(err)
		}
		buf, oob := make([]byte, 64), make([]byte, 64)
		n, oobn, _, _, err := way.to.ReadMsgUnix(buf, oob)
		if err != nil || !bytes.Equal(buf[:n], sent) {
			t.Fatalf("%x came, %v", buf[:n], err)
		}
		got := rights(oob[:oobn])
		if len(got) != 1 {
			t.Fatalf("%d files came", len(got))
		}
		g := os.NewFile(uintptr(got[0]), "came")
		text := make([]byte, 9)
		if _, err := g.ReadAt(text, 0); err != nil || string(text) != "a picture" {
			t.Errorf("the file says %q, %v", text, err)
		}
		g.Close()
	}
}

func TestEndsMeetEnds(t *testing.T) {
	f := newFakeServer(t)
	d, control := f.open(t)
	gone := func(what string, c net.Conn) {
		t.Helper()
		if n, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: %d bytes, %v; want its end", what, n, err)
		}
	}
	client, real := f.enter(t, d)
	client.Close()
	gone("the server's side of a client that went", real)
	client, real = f.enter(t, d)
	real.Close()
	gone("the client of a server that went", client)
	client, real = f.enter(t, d)
	d.Close()
	gone("a client behind a shut door", client)
	gone("the server behind a shut door", real)
	gone("the door's own connection", control)
	if _, err := os.Stat(socketOf(d.number)); !os.IsNotExist(err) {
		t.Errorf("the door is left: %v", err)
	}
	d.Close()
}

func TestNoDoor(t *testing.T) {
	var log bytes.Buffer
	for display, said := range map[string]string{"": "", "screen": "no display number", ":59999": "focus"} {
		log.Reset()
		d := Open(func(name string) string { return map[string]string{"DISPLAY": display}[name] }, slog.New(slog.NewTextHandler(&log, nil)))
		if d != nil || d.Display() != "" || !strings.Contains(log.String(), said) || said == "" && log.Len() > 0 {
			t.Errorf("%q: %v, log %q", display, d, log.String())
		}
		d.Close()
	}
}

// A host that was killed leaves its doors; the next one that opens takes them away.
func TestSweep(t *testing.T) {
	f := newFakeServer(t)
	left, _ := f.open(t)
	left.listen.SetUnlinkOnClose(false)
	left.Close()
	if _, err := os.Stat(socketOf(left.number)); err != nil {
		t.Fatal(err)
	}
	d, _ := f.open(t)
	if _, err := os.Stat(socketOf(left.number)); !os.IsNotExist(err) && d.number != left.number {
		t.Errorf("a door that nobody keeps is left: %v", err)
	}
	if _, err := os.Stat(socketOf(d.number)); err != nil {
		t.Errorf("a door that is kept: %v", err)
	}
}
