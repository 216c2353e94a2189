package line

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chaperone/backend/fault"
	"chaperone/backend/setting"
)

// shortDir returns a directory that is not too deep for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "line")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// open serves the host's door on a socket, and returns what ends it.
func (h *host) open(t *testing.T, path string) (end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &Socket{Path: path, Door: &h.Door}
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- s.ServeReady(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	var err error
	done := false
	end = func() error {
		if !done {
			done = true
			cancel()
			err = <-ended
		}
		return err
	}
	t.Cleanup(func() { _ = end() })
	return end
}

func dial(t *testing.T, path string) *caller {
	t.Helper()
	conn, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &caller{t: t, conn: conn, r: bufio.NewReader(conn)}
}

func TestSocket(t *testing.T) {
	h := newHost(t)
	path := filepath.Join(shortDir(t), "run", "host.sock")
	end := h.open(t, path)
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Lstat(name)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	a, b := dial(t, path), dial(t, path)
	a.ask(`{"id":1,"method":"hello","args":{"agent":"ann"}}`, `"agent":"ann"`)
	b.ask(`{"id":1,"method":"hello","args":{"agent":"bob"}}`, `"agent":"bob"`)
	a.say(`{"id":2,"method":"work"}`)
	<-h.started
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	a.want(`{"id":2,"ok":false`, `"BROWSER_DISPOSING"`)
	if len(h.agents.gone()) != 2 {
		t.Errorf("left: %v", h.agents.gone())
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	if _, err := Dial(t.Context(), path); err == nil {
		t.Error("an ended host can be reached")
	}
}

func TestSocketTakesTheDeadOnesPlace(t *testing.T) {
	h := newHost(t)
	path := filepath.Join(shortDir(t), "host.sock")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	h.open(t, path)
	dial(t, path).ask(`{"id":1,"method":"ping"}`, `"ok":true`)
}

func TestSocketRemovesNothingElse(t *testing.T) {
	dir := shortDir(t)
	path := filepath.Join(dir, "host.sock")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHost(t)
	err := (&Socket{Path: path, Door: &h.Door}).Serve(t.Context())
	if err == nil || !strings.Contains(err.Error(), "in the way") {
		t.Errorf("got %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "precious" {
		t.Errorf("the file holds %q", text)
	}
}

func TestRuntimeDirectoryIsOurs(t *testing.T) {
	dir := shortDir(t)
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := ownDirectory(open); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(open); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("an open directory was not closed: %v", info.Mode())
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(open, link); err != nil {
		t.Fatal(err)
	}
	if err := ownDirectory(link); err == nil {
		t.Error("a link was taken for a directory")
	}
	if err := ownDirectory("/proc/1/fd/0/x"); err == nil {
		t.Error("a directory that cannot be made was taken")
	}
}

func TestSocketTakesNoMoreThanItsBound(t *testing.T) {
	h := newHost(t)
	path := filepath.Join(shortDir(t), "host.sock")
	h.open(t, path)
	var all []*caller
	for range connections {
		c := dial(t, path)
		c.ask(`{"id":1,"method":"ping"}`, `"ok":true`)
		all = append(all, c)
	}
	more := dial(t, path)
	more.want(`{"id":null,"ok":false`, `"BUSY"`)
	all[0].conn.Close()
	// Its place is free as soon as the door has noticed; each refusal is one more look.
	for deadline := time.Now().Add(10 * time.Second); ; {
		c := dial(t, path)
		_, _ = c.conn.Write([]byte(`{"id":1,"method":"ping"}` + "\n"))
		if got, _ := c.r.ReadString('\n'); strings.Contains(got, `"ok":true`) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a free place was not given")
		}
	}
}

func TestClaim(t *testing.T) {
	home := shortDir(t)
	places := setting.PathsFrom(func(k string) string { return map[string]string{"CHAPERONE_HOME": home}[k] })
	me := Host{PID: 4711, Kind: "app", Version: "1.2.3", StartedAt: time.Now(), Socket: places.Socket}
	release, err := Claim(places, me)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Claim(places, Host{PID: 1, Kind: "serve"})
	if e := fault.From(err); e.Code != fault.Busy || !strings.Contains(e.Message, "the app, process 4711, version 1.2.3") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(places.Host, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = Claim(places, me); !fault.Is(err, fault.Busy) {
		t.Errorf("with a broken note: %v", err)
	}
	release()
	if _, err := os.Lstat(places.Host); !os.IsNotExist(err) {
		t.Errorf("the note is still there: %v", err)
	}
	again, err := Claim(places, me)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	again()

	start, ok, err := StartLock(places)
	if !ok || err != nil {
		t.Fatalf("the start lock: %v, %v", ok, err)
	}
	if _, ok, err := StartLock(places); ok || err != nil {
		t.Errorf("a second start lock: %v, %v", ok, err)
	}
	start()
}
