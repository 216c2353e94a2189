package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"chaperone/backend/chrome"
	"chaperone/backend/fault"
	"chaperone/backend/serve/line"
	"chaperone/backend/setting"
)

const (
	// starting bounds the start of a host, until it can be connected to.
	starting = 10 * time.Second
	// Connecting is tried again after firstTry, then after twice as long each
	// time, up to lastTry.
	firstTry, lastTry = 5 * time.Millisecond, 200 * time.Millisecond
	// idle is how long a host without a window stays when its last agent has gone.
	// It must not stand in the way of the app for ever.
	idle = "1m"
	// maxLog is the size at which the log of started hosts begins anew.
	maxLog = 1 << 20
)

// startHost starts a host, unless another bridge is at it, and connects to it.
func startHost(ctx context.Context, places setting.Paths) (io.ReadWriteCloser, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, starting,
		fmt.Errorf("it could not be connected to within %v", starting))
	defer cancel()
	var child *child
	var gone <-chan struct{}
	for wait := firstTry; ; wait = min(2*wait, lastTry) {
		if child == nil {
			release, mine, err := line.StartLock(places)
			if err != nil {
				return nil, notStarted(places, err)
			}
			if mine {
				defer release()
			}
			// Another may have been ready in between.
			if conn, err := dial(ctx, places); err == nil {
				return conn, nil
			}
			if mine {
				if child, err = launch(places); err != nil {
					return nil, notStarted(places, err)
				}
				gone = child.gone
			}
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-gone:
			gone = nil
			// It may have found that another host had begun before it.
			if _, runs := line.Running(places); !runs {
				timer.Stop()
				return nil, notStarted(places, child.why())
			}
		case <-ctx.Done():
			timer.Stop()
			return nil, notStarted(places, context.Cause(ctx))
		}
		if conn, err := dial(ctx, places); err == nil {
			return conn, nil
		}
	}
}

func notStarted(places setting.Paths, why error) error {
	return fault.New(fault.BrowserUnavailable, "Chaperone is not running and could not be started: %w", why).
		WithHint(fmt.Sprintf("Run `chaperone doctor`; what the host said is in %s.", places.Log))
}

// child is a host that this bridge started and that outlives it.
type child struct {
	gone  chan struct{} // closed when it has ended
	err   error         // how; set before gone is closed
	log   string
	began int64 // where in the log its words begin
}

// launch starts a host in a session of its own, which holds nothing of ours: not
// our input, output or working directory.
func launch(places setting.Paths) (*child, error) {
	program, args, err := hostProgram()
	if err != nil {
		return nil, err
	}
	log, err := openLog(places.Log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	end, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = filepath.Dir(places.Log)
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	c := &child{gone: make(chan struct{}), log: places.Log, began: end}
	go func() { // ends with the host, or with this program
		c.err = cmd.Wait()
		close(c.gone)
	}()
	return c, nil
}

// hostProgram is the app where a window can be shown, else a host without one.
func hostProgram() (program string, args []string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	if chrome.Display(os.Getenv) == nil {
		if app, err := findApp(self); err == nil {
			return app, nil, nil
		}
	}
	return self, []string{"serve", "--idle", idle}, nil
}

// appProgram is the app's file name.
const appProgram = "chaperone-desktop"

// findApp looks for the app next to this program, then in PATH.
func findApp(self string) (string, error) {
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	name := appProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
		return path, nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
}

// why says why the host ended, in its own last words if it had any.
func (c *child) why() error {
	words := ""
	if f, err := os.Open(c.log); err == nil {
		defer f.Close()
		if text, err := io.ReadAll(io.LimitReader(io.NewSectionReader(f, c.began, maxLog), 64<<10)); err == nil {
			words = saying(string(text))
		}
	}
	if words == "" && c.err != nil {
		words = c.err.Error()
	}
	if words == "" {
		words = "it ended at once"
	}
	return errors.New(words)
}

// saying is the message in what a host wrote: its own "chaperone: …", or the last line.
func saying(text string) string {
	words := ""
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if own, ok := strings.CutPrefix(l, "chaperone: "); ok {
			return clip(own)
		}
		if l != "" {
			words = l
		}
	}
	return clip(words)
}

func clip(s string) string {
	if r := []rune(s); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return s
}
