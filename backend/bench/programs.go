package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"chaperone/backend/setting"
)

const (
	starts = 9
	// startTime and stopTime bound the start and the end of one program.
	startTime = 20 * time.Second
	stopTime  = 10 * time.Second
	// knock is how often a socket that is not there yet is tried.
	knock = time.Millisecond
)

// A serving host is a process of its own.
type serving struct {
	cmd    *exec.Cmd
	agent  *client
	stderr bytes.Buffer
}

// programs measures the built program as processes.
func programs(ctx context.Context, r *report, program, dir string) error {
	var fresh, again sample
	for i := range starts {
		home := filepath.Join(dir, fmt.Sprintf("home-%d", i))
		for _, s := range []*sample{&fresh, &again} {
			h, took, err := serve(ctx, program, home)
			if err != nil {
				return err
			}
			s.add(took)
			if err := h.stop(); err != nil {
				return err
			}
		}
	}
	r.limit("Host start to an answered ping, everything there", again, 300)
	r.limit("The same, the first start ever", fresh, 300)

	home := filepath.Join(dir, "home")
	h, _, err := serve(ctx, program, home)
	if err != nil {
		return err
	}
	return errors.Join(func() error {
		if err := h.agent.call(ctx, "hello", map[string]any{"agent": "bench"}, nil); err != nil {
			return err
		}
		for range calls {
			if err := h.agent.call(ctx, "current_page", map[string]any{}, nil); err != nil {
				return err
			}
		}
		if err := h.memory(r); err != nil {
			return err
		}
		var bridged sample
		for range starts {
			took, err := timed(func() error { return bridge(ctx, program, home) })
			if err != nil {
				return err
			}
			bridged.add(took)
		}
		r.only("chaperone bridge, start to end with one answer", bridged, "", nil, "host running")
		return nil
	}(), h.stop())
}

func environment(home string) []string { return append(os.Environ(), "CHAPERONE_HOME="+home) }

// serve starts a host and returns how long it took to answer.
func serve(ctx context.Context, program, home string) (_ *serving, took time.Duration, err error) {
	paths := setting.PathsFrom(func(name string) string {
		if name == "CHAPERONE_HOME" {
			return home
		}
		return ""
	})
	s := &serving{cmd: exec.Command(program, "serve")}
	s.cmd.Env, s.cmd.Stderr = environment(home), &s.stderr
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	begun := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, 0, err
	}
	for {
		s.agent, err = dial(ctx, paths.Socket)
		if err == nil {
			break
		}
		select {
		case <-time.After(knock):
		case <-ctx.Done():
			return nil, 0, errors.Join(fmt.Errorf("the host did not start: %w", context.Cause(ctx)), s.stop())
		}
	}
	if err := s.agent.call(ctx, "ping", map[string]any{}, nil); err != nil {
		return nil, 0, errors.Join(err, s.stop())
	}
	return s, time.Since(begun), nil
}

func (s *serving) stop() error {
	var err error
	if s.agent != nil {
		err = s.agent.Close()
	}
	err = errors.Join(err, s.cmd.Process.Signal(syscall.SIGTERM))
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	limit := time.NewTimer(stopTime)
	defer limit.Stop()
	var exit error
	select {
	case exit = <-ended:
	case <-limit.C:
		err = errors.Join(err, errors.New("the host did not end"), s.cmd.Process.Kill())
		exit = <-ended
	}
	if exit != nil {
		err = errors.Join(err, fmt.Errorf("the host: %w: %s", exit, s.stderr.String()))
	}
	return err
}

// memory reads what the process holds, where the system tells it.
func (s *serving) memory(r *report) error {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", s.cmd.Process.Pid))
	if errors.Is(err, os.ErrNotExist) {
		r.Rows = append(r.Rows, Row{Name: "Host memory", Note: "not told by this system"})
		return nil
	} else if err != nil {
		return err
	}
	held := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[2] == "kB" {
			kib, err := strconv.ParseFloat(f[1], 64)
			if err != nil {
				return err
			}
			held[strings.TrimSuffix(f[0], ":")] = kib / 1024
		}
	}
	met := held["Rss"] < 40
	r.Rows = append(r.Rows, Row{
		Name: fmt.Sprintf("Host memory after %d calls of an agent, no Chromium", calls), Unit: "MiB", Ours: &Times{held["Rss"], held["Rss"], 1},
		Goal: "< 40 MiB", Met: &met, Note: fmt.Sprintf("resident; its own share of it %.1f MiB, private %.1f MiB", held["Pss"], held["Private_Dirty"]),
	})
	return nil
}

// bridge runs one request through a bridge.
func bridge(ctx context.Context, program, home string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "bridge", "--no-start", "--agent", "bench")
	cmd.Env = environment(home)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(in, `{"id":1,"method":"ping"}`)
	answer, readErr := bufio.NewReader(out).ReadString('\n')
	if !strings.Contains(answer, `"ok":true`) {
		readErr = errors.Join(readErr, fmt.Errorf("the bridge answered %q", answer))
	}
	return errors.Join(err, readErr, in.Close(), cmd.Wait())
}
