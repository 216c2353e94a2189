// Package testkit runs a whole host in this process, for tests: real Chromium,
// real lines over the real socket, a small web on loopback, and a person who
// answers.
//
// It promises that everything it starts has ended when Close returns, that every
// wait is bounded and says what it waited for, and that an answer which does not
// fit its method's schema is an error. It is the one place beside the app's own
// window that holds a host's people's side, and it must not be linked into
// anything that is shipped.
package testkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"chaperone/backend/chrome"
	"chaperone/backend/host"
)

const (
	// patience bounds every wait for something that must come, a first start of
	// Chromium on a loaded machine included.
	patience = 60 * time.Second
	// stopping bounds the end of the host, which promises ten seconds.
	stopping = 15 * time.Second
)

// Options says what to start. The zero value is an app's host that a person attends.
type Options struct {
	// Kind is host.App, the default, or host.Serve.
	Kind string
	// Home keeps what the host keeps; default a directory that Close removes.
	Home string
	// Flags are added to Chromium's command line.
	Flags []string
	// Chromium is the browser to use; default the one that is found.
	Chromium string
	// Rows bounds the audit log; 0 is the host's own bound.
	Rows int
	// Absent says that nobody is there to answer until Person.Return.
	Absent bool
	// Headless says that no display is needed, for tests that open no window.
	Headless bool
}

// A Kit is a running host and what is around it.
type Kit struct {
	Host   *host.Host
	Person *Person
	Sites  *Sites
	// Log is what the host has said of its own troubles.
	Log *Log

	stop  context.CancelFunc
	over  chan struct{} // closed when the host has ended
	err   error         // its end, once over is closed
	erase string

	mu     sync.Mutex
	agents []*Agent
	closed bool
}

// Start opens a Kit for t and closes it at t's end. It fails t when the host does
// not start, ends badly, or had an internal error.
func Start(t testing.TB, o Options) *Kit {
	t.Helper()
	k, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the host's log:\n%s", k.Log)
		}
	})
	return k
}

// Open starts a host and waits until agents can come in.
func Open(o Options) (k *Kit, err error) {
	if !o.Headless {
		if err := chrome.Display(os.Getenv); err != nil {
			return nil, fmt.Errorf("this test opens windows: %w (run it by build/with-display.sh)", err)
		}
	}
	k = &Kit{over: make(chan struct{}), Log: &Log{}}
	if o.Home == "" {
		if o.Home, err = os.MkdirTemp("", "chaperone-test-"); err != nil {
			return nil, err
		}
		k.erase = o.Home
	}
	if k.Sites, err = openSites(); err != nil {
		return nil, err
	}
	k.Host, err = host.New(host.Options{Version: "test", Kind: o.Kind, Home: o.Home, Chromium: o.Chromium, Flags: o.Flags, Rows: o.Rows,
		Log: slog.New(slog.NewTextHandler(k.Log, nil))})
	if err != nil {
		return nil, errors.Join(err, k.Sites.close())
	}
	ctx, stop := context.WithCancel(context.Background())
	k.stop = stop
	go func() {
		k.err = k.Host.Run(ctx)
		close(k.over)
	}()
	k.Person = newPerson(k.Host.People(), k.Host.Attend, o.Absent)
	select {
	case <-k.Host.Ready():
	case <-k.over:
		return nil, errors.Join(fmt.Errorf("the host did not start: %w", k.err), k.Close())
	case <-time.After(patience):
		return nil, errors.Join(fmt.Errorf("the host was not ready within %v", patience), k.Close())
	}
	k.Person.follow(ctx)
	return k, nil
}

// Over is closed when the host has ended.
func (k *Kit) Over() <-chan struct{} { return k.over }

// Close ends the agents' lines, the host and the sites, and waits for all of
// them. Its error tells what did not go as it must. A second call does nothing.
func (k *Kit) Close() error {
	k.mu.Lock()
	agents, closed := k.agents, k.closed
	k.closed = true
	k.mu.Unlock()
	if closed {
		return nil
	}
	for _, a := range agents {
		a.Close()
	}
	k.stop()
	select {
	case <-k.over:
	case <-time.After(stopping):
		return fmt.Errorf("the host did not end within %v", stopping)
	}
	err := k.err
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	err = errors.Join(err, k.Person.close(), k.Sites.close())
	if bytes.Contains([]byte(k.Log.String()), []byte("level=ERROR")) {
		err = errors.Join(err, errors.New("the host's log has errors"))
	}
	if k.erase != "" {
		err = errors.Join(err, os.RemoveAll(k.erase))
	}
	return err
}

// A Log gathers text that several write.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns what was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
