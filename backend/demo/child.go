package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// How long things may take; all are far above what they take on a small, busy machine.
const (
	readyWithin = 60 * time.Second // the app's socket, from a cold start
	endWithin   = 15 * time.Second // the app and the bridge; the app promises ten
	sweptWithin = 5 * time.Second  // the last Chromium after its host
	lookEvery   = 100 * time.Millisecond
)

// child is a program that the demo started and ends.
type child struct {
	name  string
	cmd   *exec.Cmd
	log   *os.File
	ended chan struct{} // closed when the program has ended, after err is set
	err   error
}

func start(name string, cmd *exec.Cmd, home, logPath string) (*child, error) {
	log, err := os.Create(logPath)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(os.Environ(), "CHAPERONE_HOME="+home)
	cmd.Stderr = log
	if cmd.Stdout == nil {
		cmd.Stdout = log
	}
	if err := cmd.Start(); err != nil {
		log.Close()
		return nil, fmt.Errorf("%s could not be started (is it built? `make build`): %w", name, err)
	}
	return &child{name: name, cmd: cmd, log: log, ended: make(chan struct{})}, nil
}

// watch waits for the program; it must be called once, and nothing may read the program's pipes after it.
func (c *child) watch() {
	c.err = c.cmd.Wait()
	c.log.Close()
	close(c.ended)
}

// finish waits for the program's end by itself, and ends it for good when that takes too long.
func (c *child) finish() error {
	limit := time.NewTimer(endWithin)
	defer limit.Stop()
	select {
	case <-c.ended:
	case <-limit.C:
		_ = c.cmd.Process.Kill()
		<-c.ended
		return fmt.Errorf("%s did not end within %v", c.name, endWithin)
	}
	if c.err != nil {
		return fmt.Errorf("%s ended badly: %w", c.name, c.err)
	}
	return nil
}

// app is the desktop app.
type app struct{ *child }

func startApp(path, home, logPath string) (*app, error) {
	c, err := start("the app", exec.Command(path), home, logPath)
	if err != nil {
		return nil, err
	}
	go c.watch()
	return &app{c}, nil
}

// ready waits until agents can come in.
func (a *app) ready(ctx context.Context, socket string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin,
		fmt.Errorf("the app had no socket within %v", readyWithin))
	defer cancel()
	return until(ctx, func() (bool, error) {
		select {
		case <-a.ended:
			return false, fmt.Errorf("the app ended at once: %w", errors.Join(a.err, tail(a.log.Name())))
		default:
		}
		_, err := os.Stat(socket)
		return err == nil, nil
	})
}

// end asks the app to close, as a session's end would.
func (a *app) end() error {
	_ = a.cmd.Process.Signal(syscall.SIGTERM)
	return a.finish()
}

// bridge is the agent's child process, `chaperone bridge`, and the line through it.
type bridge struct {
	*child
	line  *line
	stdin io.Closer
}

func startBridge(path, home, logPath string) (*bridge, error) {
	cmd := exec.Command(path, "bridge", "--no-start")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = to
	c, err := start("the bridge", cmd, home, logPath)
	to.Close()
	if err != nil {
		out.Close()
		return nil, err
	}
	b := &bridge{child: c, line: newLine(in, out), stdin: in}
	go func() {
		<-b.line.ended
		out.Close()
		c.watch()
	}()
	return b, nil
}

// end closes the agent's input, which must end the bridge cleanly.
func (b *bridge) end() error {
	_ = b.stdin.Close()
	return b.finish()
}

// until asks again and again whether something is so, for as long as ctx lasts.
func until(ctx context.Context, is func() (bool, error)) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		if done, err := is(); done || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// nothingLeft waits until no Chromium has a profile below home, for none
// outlives its agent. Where there is no /proc it can't tell and says nothing.
func nothingLeft(ctx context.Context, home string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, sweptWithin,
		fmt.Errorf("a Chromium was still there %v after its agent had left", sweptWithin))
	defer cancel()
	return until(ctx, func() (bool, error) {
		processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			return false, err
		}
		for _, process := range processes {
			if args, err := os.ReadFile(process); err == nil && strings.Contains(string(args), "--user-data-dir="+home) {
				return false, nil
			}
		}
		return true, nil
	})
}

// tail is the end of a log as an error, nil when the log is empty.
func tail(path string) error {
	text, _ := os.ReadFile(path)
	if len(text) > 2000 {
		text = text[len(text)-2000:]
	}
	if len(text) == 0 {
		return nil
	}
	return errors.New(strings.TrimSpace(string(text)))
}
