package line

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"chaperone/backend/fault"
	"chaperone/backend/wire"
)

const (
	// connections is how many lines may be open at once.
	connections = 128
	// stopping is how long Serve waits for its lines at the end.
	stopping = 5 * time.Second
)

// A Socket serves a Door on a unix socket that only programs of the same user
// reach. It is a service: it may be served again after it has failed.
type Socket struct {
	// Path is where it listens. Whoever serves it holds the claim on the host.
	Path string
	Door *Door
}

// String names the service.
func (s *Socket) String() string { return "agents' door" }

// Serve serves until ctx ends.
func (s *Socket) Serve(ctx context.Context) error { return s.ServeReady(ctx, func() {}) }

// ServeReady serves until ctx ends, and calls ready as soon as an agent can
// connect. It returns when all lines have ended, at most five seconds after ctx.
func (s *Socket) ServeReady(ctx context.Context, ready func()) error {
	ln, err := bind(s.Path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	unhook := context.AfterFunc(ctx, func() { ln.Close() })
	defer unhook()
	defer ln.Close()
	ready()

	var lines sync.WaitGroup
	slots := make(chan struct{}, connections)
	for {
		conn, err := ln.AcceptUnix()
		if err != nil {
			if ctx.Err() == nil && isPassing(err) && pause(ctx) {
				s.Door.Notes.Warn("a connection could not be taken", "cause", err)
				continue
			}
			cancel()
			if late := wait(&lines, stopping); late != nil {
				return errors.Join(late, context.Cause(ctx))
			}
			if errors.Is(err, net.ErrClosed) {
				return context.Cause(ctx)
			}
			return fmt.Errorf("taking connections: %w", err)
		}
		if err := samePeer(conn); err != nil {
			s.Door.Notes.Warn("a connection was refused", "cause", err)
			conn.Close()
			continue
		}
		select {
		case slots <- struct{}{}:
			lines.Go(func() {
				defer func() { <-slots }()
				defer s.survive(conn)
				s.Door.Serve(ctx, conn)
			})
		default:
			refuse(conn)
		}
	}
}

// survive makes a panic the end of one line only. Its value is not written down:
// it may hold what a line contained.
func (s *Socket) survive(conn *net.UnixConn) {
	if p := recover(); p != nil {
		s.Door.Notes.Error("a line ended by a defect", "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
		conn.Close()
	}
}

// refuse says that there are too many lines. The one small line fits into the
// socket's buffer, so it does not wait for the caller.
func refuse(conn *net.UnixConn) {
	defer conn.Close()
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	_ = wire.NewWriter(conn).Write(wire.Answer(nil, nil, fault.New(fault.Busy, "%d agents are connected", connections).
		WithHint("Close a connection that is not needed.")))
}

// isPassing reports whether accepting may work again later: the process is out of files, say.
func isPassing(err error) bool {
	return !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrInvalid)
}

// pause waits a moment so that a lasting failure does not spin; false when ctx ended.
func pause(ctx context.Context) bool {
	t := time.NewTimer(100 * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func wait(group *sync.WaitGroup, d time.Duration) error {
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return nil
	case <-t.C:
		return fmt.Errorf("an agent's line did not end within %v", d)
	}
}

// bind listens at path. What an earlier host left there is removed, and nothing else is.
func bind(path string) (*net.UnixListener, error) {
	if err := ownDirectory(filepath.Dir(path)); err != nil {
		return nil, err
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("the socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s is in the way: it is not a socket", path)
	default:
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("removing an old socket: %w", err)
		}
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		ln.Close()
		return nil, fmt.Errorf("listening: %w", err)
	}
	return ln, nil
}

// ownDirectory makes dir, or sees that it is this user's and nobody else can enter it.
func ownDirectory(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the runtime directory: %w", err)
	}
	open, err := CheckDirectory(dir)
	if err == nil && open {
		err = os.Chmod(dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("the runtime directory: %w", err)
	}
	return nil
}

// CheckDirectory returns an error unless dir is a directory of this user, and
// whether others can enter it. It changes nothing.
func CheckDirectory(dir string) (open bool, err error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return false, err
	}
	if !info.IsDir() || !ours(info) {
		return false, fmt.Errorf("%s is not a directory of this user", dir)
	}
	return info.Mode().Perm()&0o077 != 0, nil
}

// Dial connects to the host at path. A host of another user is refused, so that
// nobody can stand in for it. ctx bounds the connecting.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := samePeer(conn.(*net.UnixConn)); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}
