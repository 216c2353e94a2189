package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/agent"
	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
	"chaperone/backend/serve/line"
	"chaperone/backend/setting"
)

// TestMain makes this test program three: by the name under which it was
// started it is chaperone itself, a stand-in for the app, or the tests.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "chaperone":
		os.Exit(run(os.Args[1:]))
	case appProgram:
		os.Exit(standIn())
	}
	os.Exit(m.Run())
}

// standIn is a host like the app, without a window.
func standIn() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	places := setting.PathsFrom(os.Getenv)
	release, err := line.Claim(places, line.Host{PID: os.Getpid(), Kind: "app", Version: "stand-in", StartedAt: time.Now(), Socket: places.Socket})
	if err != nil {
		return report(os.Stderr, err)
	}
	defer release()
	_ = newStage("app").socket(places).Serve(ctx)
	return 0
}

// stage is what stands behind the agents' door in these tests.
type stage struct {
	kind string
	mu   sync.Mutex
	n    int
	left []ids.Agent
	// began says that a call of "work" runs; it ends when let is closed or its context is.
	began chan string
	let   chan struct{}
}

func newStage(kind string) *stage {
	return &stage{kind: kind, began: make(chan string, 1000), let: make(chan struct{})}
}

type echoArgs struct {
	Text string `json:"text,omitempty"`
}

type echoResult struct {
	Text string    `json:"text"`
	By   ids.Agent `json:"by"`
}

func (s *stage) Connect(_ context.Context, name ids.Agent) (agent.Connected, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == "" {
		s.n++
		name = ids.Agent(fmt.Sprintf("fresh-%d-%d", os.Getpid(), s.n))
	}
	return agent.Connected{Agent: name, Session: "sess_1", Line: "line-1", Leave: func(context.Context) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.left = append(s.left, name)
	}}, nil
}

// noEvents is a log in which nothing happens.
type noEvents struct{}

func (noEvents) Append(context.Context, ...event.Draft) error             { return nil }
func (noEvents) After(context.Context, int64, int) ([]event.Event, error) { return nil, nil }
func (noEvents) Last(context.Context) (int64, error)                      { return 0, nil }
func spec(method string) *action.Spec {
	return action.Describe[echoArgs, echoResult](action.Spec{Method: method, Verb: method, Summary: "Does " + method + ".",
		Audience: action.Agents, Capability: "test", Effect: action.Mutates, Tab: action.NoTab})
}

func (s *stage) socket(places setting.Paths) *line.Socket {
	pass := func(next action.Runner) action.Runner { return next }
	path := action.Path{Line: func(ids.Agent) *action.Lanes { return nil }, Record: pass, Admit: pass, Decide: pass, Hold: pass}
	echo := func(_ context.Context, c *action.Call, a echoArgs) (echoResult, error) {
		return echoResult{Text: a.Text, By: c.Actor.Agent}, nil
	}
	work := func(ctx context.Context, c *action.Call, a echoArgs) (echoResult, error) {
		s.began <- a.Text
		select {
		case <-s.let:
			return echo(ctx, c, a)
		case <-ctx.Done():
			return echoResult{}, ctx.Err()
		}
	}
	return &line.Socket{Path: places.Socket, Door: &line.Door{
		Dispatcher: action.NewDispatcher([]action.Bound{action.Bind(spec("echo"), echo), action.Bind(spec("work"), work)}, path, time.Now),
		Agents:     s, Log: noEvents{}, Bus: &event.Bus{}, Version: "stand-in",
		Status: func() line.Status {
			return line.Status{Kind: s.kind, PID: os.Getpid(), Version: "stand-in", StartedAt: time.Now()}
		},
		Notes: slog.New(slog.DiscardHandler),
	}}
}

// machine is a home for one test, with the programs installed in it.
type machine struct {
	t      *testing.T
	bin    string
	env    []string
	places setting.Paths
}

func newMachine(t testing.TB) *machine {
	t.Helper()
	dir, err := os.MkdirTemp("", "cmd") // shorter than t.TempDir: a socket goes into it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	m := &machine{bin: filepath.Join(dir, "bin"), env: []string{"CHAPERONE_HOME=" + dir + "/home", "HOME=" + dir, "PATH=/usr/bin:/bin",
		"GORACE=atexit_sleep_ms=0"}} // or each program waits a second at its end under the race detector
	m.t, _ = t.(*testing.T)
	m.places = setting.PathsFrom(m.getenv)
	m.install(t, "chaperone")
	return m
}

func (m *machine) getenv(name string) string {
	for _, v := range m.env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// install makes this test program available under another name.
func (m *machine) install(t testing.TB, name string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(m.bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Link(self, filepath.Join(m.bin, name)) == nil {
		return
	}
	text, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(filepath.Join(m.bin, name), text, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (m *machine) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(m.bin, "chaperone"), args...)
	cmd.Env = m.env
	return cmd
}

// output runs a command to its end.
func (m *machine) output(args ...string) (stdout, stderr string, code int) {
	m.t.Helper()
	cmd := m.command(args...)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		m.t.Fatal(err)
	}
	return out.String(), diag.String(), cmd.ProcessState.ExitCode()
}

// display gives the machine something that takes connections as a display does.
func (m *machine) display() {
	m.t.Helper()
	path := filepath.Join(filepath.Dir(m.bin), "wayland")
	m.listen(path)
	m.env = append(m.env, "WAYLAND_DISPLAY="+path)
}

// host serves a stage on the machine's socket from this process. kill ends it.
func (m *machine) host(s *stage) (kill func()) {
	m.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- s.socket(m.places).ServeReady(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		m.t.Fatal(err)
	}
	kill = sync.OnceFunc(func() { cancel(); <-ended })
	m.t.Cleanup(kill)
	return kill
}

// stopHost ends the host that a bridge has started, and waits for its end.
func (m *machine) stopHost(sig syscall.Signal) {
	m.t.Helper()
	text, err := os.ReadFile(m.places.Host)
	if err != nil {
		return // there is none
	}
	var h line.Host
	if err := json.Unmarshal(text, &h); err != nil || h.PID == os.Getpid() {
		m.t.Fatalf("the host is %s, %v", text, err)
	}
	if err := syscall.Kill(h.PID, sig); err != nil {
		m.t.Logf("host %d: %v", h.PID, err)
	}
	// The claim is free when it has ended in any way.
	m.until("the host has ended", func() bool {
		release, err := line.Claim(m.places, line.Host{PID: os.Getpid()})
		if err == nil {
			release()
		}
		return err == nil
	})
}

// until waits for a condition that no channel tells of.
func (m *machine) until(what string, is func() bool) {
	m.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(15 * time.Second)
	for !is() {
		select {
		case <-tick.C:
		case <-late:
			m.t.Fatalf("timed out waiting until %s", what)
		}
	}
}

// bridge is a running bridge.
type bridge struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	notes bytes.Buffer
}

func (m *machine) bridge(args ...string) *bridge {
	m.t.Helper()
	b := &bridge{t: m.t, cmd: m.command(append([]string{"bridge"}, args...)...)}
	in, err := b.cmd.StdinPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	b.in, b.out = in, bufio.NewReader(out)
	b.cmd.Stderr = &b.notes
	if err := b.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = b.cmd.Process.Kill(); _ = b.cmd.Wait() })
	return b
}

func (b *bridge) say(lines ...string) {
	b.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(b.in, l+"\n"); err != nil {
			b.t.Fatalf("saying %.60s: %v", l, err)
		}
	}
}

func (b *bridge) hear() string {
	b.t.Helper()
	got, err := b.out.ReadString('\n')
	if err != nil {
		b.t.Fatalf("hearing: %v; on standard error: %s", err, b.notes.String())
	}
	return got
}

func (b *bridge) want(parts ...string) string {
	b.t.Helper()
	got := b.hear()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			b.t.Errorf("got %.400s\nwant a line with %s", got, part)
		}
	}
	return got
}

func (b *bridge) ask(line string, parts ...string) string {
	b.t.Helper()
	b.say(line)
	return b.want(parts...)
}

// end wants nothing more to come and the bridge to have ended well.
func (b *bridge) end() {
	b.t.Helper()
	if rest, err := io.ReadAll(b.out); err != nil || len(rest) > 0 {
		b.t.Errorf("at the end came %.300s, %v", rest, err)
	}
	if err := b.cmd.Wait(); err != nil {
		b.t.Errorf("the bridge ended with %v: %s", err, b.notes.String())
	}
}

func TestReport(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		says string
	}{
		{fault.New(fault.Busy, "Chaperone is running already").WithHint("Use that one."), 1, "chaperone: Chaperone is running already\n  Use that one.\n"},
		{fmt.Errorf("plain"), 1, "chaperone: plain\n"},
		{misuse{"wrong", "read on"}, 2, "chaperone: wrong\n  read on\n"},
		{fmt.Errorf("wrapped: %w", errSaid), 1, ""},
	} {
		var out strings.Builder
		if code := report(&out, c.err); code != c.code || out.String() != c.says {
			t.Errorf("%v: got %d and %q", c.err, code, out.String())
		}
	}
}

func TestCommandLine(t *testing.T) {
	m := newMachine(t)
	for _, c := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"version"}, 0, "chaperone ", ""},
		{nil, 0, "Agents come in by", ""},
		{[]string{"--help"}, 0, "bridge", ""},
		{[]string{"brigde"}, 2, "", `there is no command "brigde"; did you mean bridge?`},
		{[]string{"allow", "https://example.org"}, 2, "", `there is no command "allow"`},
		{[]string{"bridge", "ann"}, 2, "", `takes no argument "ann"`},
		{[]string{"bridge", "--allow"}, 2, "", "unknown flag: --allow"},
		{[]string{"status", "--json", "x"}, 2, "", `takes no argument "x"`},
	} {
		stdout, stderr, code := m.output(c.args...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) || (c.stderr == "") != (stderr == "") {
			t.Errorf("%v: exit code %d, %q, %q", c.args, code, stdout, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(m.places.Run)); !os.IsNotExist(err) {
		t.Errorf("looking around made %s", m.places.Run)
	}
}

func TestStatus(t *testing.T) {
	m := newMachine(t)
	stdout, stderr, code := m.output("status")
	if code != 1 || stdout != "Chaperone is not running.\n" || stderr != "" {
		t.Errorf("without a host: %d, %q, %q", code, stdout, stderr)
	}
	m.host(newStage("app"))
	stdout, _, code = m.output("status")
	if code != 0 || !strings.Contains(stdout, fmt.Sprintf("Chaperone stand-in is running: the app, process %d, for 0s.", os.Getpid())) {
		t.Errorf("with a host: %d, %q", code, stdout)
	}
	stdout, _, code = m.output("status", "--json")
	var s hostState
	if err := json.Unmarshal([]byte(stdout), &s); err != nil || code != 0 || !s.Running || s.Host.PID != os.Getpid() || s.Socket != m.places.Socket {
		t.Errorf("as JSON: %d, %s, %v", code, stdout, err)
	}
}

func TestDoctor(t *testing.T) {
	m := newMachine(t)
	find := func(wantCode int) map[string]finding {
		t.Helper()
		stdout, stderr, code := m.output("doctor", "--json")
		var report struct{ Findings []finding }
		if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != wantCode {
			t.Fatalf("exit code %d, %s, %s, %v", code, stdout, stderr, err)
		}
		found := map[string]finding{}
		for _, f := range report.Findings {
			found[f.Name] = f
			if f.Says == "" || (f.Verdict != good && f.Do == "") {
				t.Errorf("%+v does not say enough", f)
			}
		}
		return found
	}
	check := func(found map[string]finding, name string, v verdict, says string) {
		t.Helper()
		if f := found[name]; f.Verdict != v || !strings.Contains(f.Says, says) {
			t.Errorf("%s: got %+v", name, f)
		}
	}
	m.env = append(m.env, "CHAPERONE_CHROMIUM=/nowhere/chromium")
	found := find(1)
	check(found, "Chromium", bad, "/nowhere/chromium")
	check(found, "Display", bad, "no display")
	check(found, "Socket", good, m.places.Socket)
	check(found, "Host", good, "not running")
	check(found, "Data", good, m.places.Data)
	check(found, "Notifications", doubt, "no session bus")
	check(found, "App", doubt, "nobody can be asked")
	if _, err := os.Stat(filepath.Dir(m.places.Run)); !os.IsNotExist(err) {
		t.Error("the doctor made something")
	}

	m.env = m.env[:len(m.env)-1]
	chromium := filepath.Join(filepath.Dir(m.bin), "chromium")
	if err := os.WriteFile(chromium, []byte("#!/bin/sh\necho Chromium 156.0.1.2\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	m.env = append(m.env, "CHAPERONE_CHROMIUM="+chromium)
	m.display()
	m.install(t, appProgram)
	m.host(newStage("app"))
	if err := os.Chmod(m.places.Run, 0o755); err != nil {
		t.Fatal(err)
	}
	found = find(0)
	check(found, "Chromium", good, "version 156.0.1.2")
	check(found, "Display", good, "")
	check(found, "Socket", doubt, "other users can enter")
	check(found, "Host", good, fmt.Sprintf("running: the app, process %d", os.Getpid()))
	check(found, "App", good, appProgram)

	stdout, _, _ := m.output("doctor")
	if !strings.Contains(stdout, "ok    Chromium") || !strings.Contains(stdout, "→ ") {
		t.Errorf("for people: %s", stdout)
	}
}

// BenchmarkStart measures the program's start and end; it should stay below 50 ms.
func BenchmarkStart(b *testing.B) {
	m := newMachine(b)
	for b.Loop() {
		if err := m.command("version").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
