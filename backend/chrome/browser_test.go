//go:build unix

package chrome

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"chaperone/backend/fault"
)

// within is how long a test waits for what takes far less.
const within = 30 * time.Second

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	t.Cleanup(cancel)
	return ctx
}

func await(t *testing.T, what string, ch <-chan struct{}) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(within):
		t.Fatalf("waited %v for %s", within, what)
	}
}

func installed(t *testing.T) Install {
	t.Helper()
	i, err := Find(os.Getenv("CHAPERONE_CHROMIUM"))
	if err != nil {
		t.Fatal(err)
	}
	if err := Display(os.Getenv); err != nil {
		t.Fatal(err)
	}
	return i
}

// launch starts a browser that is closed at the end of the test.
func launch(t *testing.T, o Options) *Browser {
	t.Helper()
	if o.Install.Path == "" {
		o.Install = installed(t)
	}
	if o.Profile == "" {
		o.Profile = filepath.Join(t.TempDir(), "profile")
	}
	b, err := Launch(deadline(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// openPage makes a tab and a session to it.
func openPage(t *testing.T, b *Browser, url string) *Session {
	t.Helper()
	made, err := Do(deadline(t), b.Root(), target.CreateTarget, target.CreateTargetParams{URL: url, NewWindow: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	at, err := Do(deadline(t), b.Root(), target.AttachToTarget,
		target.AttachToTargetParams{TargetID: made.TargetID, Flatten: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	return b.Session(at.SessionID)
}

// processesOf returns the processes of a profile's browser: those that name the
// profile, and all of its group.
func processesOf(t *testing.T, profile string, group int) (pids []int) {
	t.Helper()
	profile, err := filepath.EvalSymlinks(profile)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if _, cmdline, ok := process(pid); ok && strings.Contains(strings.Join(cmdline, " "), profile) {
			pids = append(pids, pid)
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		f := strings.Fields(string(stat[strings.LastIndex(string(stat), ")")+1:]))
		if f[2] == strconv.Itoa(group) && f[0] != "Z" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// nothingLeft waits until the last process is really gone, which the kernel
// takes a moment for after it was killed.
func nothingLeft(t *testing.T, profile string, group int) {
	t.Helper()
	var left []int
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < 2*time.Second; <-tick.C {
		if left = processesOf(t, profile, group); len(left) == 0 {
			return
		}
	}
	for _, pid := range left {
		_, cmdline, _ := process(pid)
		t.Errorf("process %d is left: %.200q", pid, cmdline)
	}
}

func TestLaunchAndClose(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "profile")
	b := launch(t, Options{Profile: profile})
	if !strings.Contains(b.Product(), "/") {
		t.Errorf("product %q", b.Product())
	}
	s := openPage(t, b, "about:blank")
	v, err := Do(deadline(t), s, runtime.Evaluate, runtime.EvaluateParams{Expression: "6*7"})
	if err != nil || string(v.Result.Value) != "42" {
		t.Fatalf("got %s, %v", v.Result.Value, err)
	}
	if n := len(processesOf(t, profile, b.PID())); n < 3 {
		t.Errorf("%d processes; the count does not see the children", n)
	}
	began := time.Now()
	if err := b.Close(deadline(t)); err != nil {
		t.Fatal(err)
	}
	t.Logf("closed in %v", time.Since(began))
	await(t, "Done", b.Done())
	if e := b.Exit(); e != (Exit{Asked: true}) {
		t.Errorf("exit %+v", e)
	}
	nothingLeft(t, profile, b.PID())
	await(t, "Gone", s.Gone())
	if err := s.Call(deadline(t), "Runtime.evaluate", nil, nil); !fault.Is(err, fault.BrowserGone) {
		t.Errorf("a call after the end: %v", err)
	}
	if err := b.Close(deadline(t)); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestRefusalsAreCDPErrors(t *testing.T) {
	b := launch(t, Options{})
	err := b.Root().Call(deadline(t), "Browser.noSuchThing", nil, nil)
	refused, ok := errors.AsType[*CDPError](err)
	if !ok || refused.Code != -32601 {
		t.Errorf("got %v", err)
	}
	err = b.Session("0000").Call(deadline(t), "Page.enable", nil, nil)
	if !fault.Is(err, fault.BrowserGone) {
		t.Errorf("a session that never was: %v", err)
	}
}

func TestPipelining(t *testing.T) {
	b := launch(t, Options{})
	s := openPage(t, b, "about:blank")
	var replies []*Reply
	for range 300 {
		replies = append(replies, s.Send("Runtime.evaluate",
			runtime.EvaluateParams{Expression: "globalThis.n = (globalThis.n ?? -1) + 1"}))
	}
	for i, r := range replies {
		var v runtime.EvaluateResult
		if err := r.Wait(deadline(t), &v); err != nil || string(v.Result.Value) != strconv.Itoa(i) {
			t.Fatalf("reply %d: %s, %v", i, v.Result.Value, err)
		}
	}
}

// hang sends a command that has no answer while its page lives.
func hang(s *Session) *Reply {
	return s.Send("Runtime.evaluate",
		runtime.EvaluateParams{Expression: "new Promise(() => {})", AwaitPromise: new(true)})
}

func TestKilledBrowser(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "profile")
	b := launch(t, Options{Profile: profile})
	s := openPage(t, b, "about:blank")
	waiting := hang(s)
	if err := s.Call(deadline(t), "Runtime.evaluate", runtime.EvaluateParams{Expression: "1"}, nil); err != nil {
		t.Fatal(err) // now the page has the command that hangs, too
	}
	began := time.Now()
	if err := syscall.Kill(b.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := waiting.Wait(deadline(t), nil); !fault.Is(err, fault.BrowserGone) {
		t.Errorf("the call that ran: %v", err)
	}
	failed := time.Since(began)
	await(t, "Done", b.Done())
	if took := time.Since(began); took > time.Second {
		t.Errorf("the end took %v to notice", took)
	}
	t.Logf("call failed after %v, Done after %v", failed, time.Since(began))
	if e := b.Exit(); e != (Exit{Code: -1, Signal: "killed"}) {
		t.Errorf("exit %+v", e)
	}
	nothingLeft(t, profile, b.PID())

	again := launch(t, Options{Profile: profile})
	if err := again.Root().Call(deadline(t), "Browser.getVersion", nil, nil); err != nil {
		t.Error(err)
	}
}

func TestClosedTabFailsItsCalls(t *testing.T) {
	b := launch(t, Options{})
	kept, lost := openPage(t, b, "about:blank"), openPage(t, b, "about:blank")
	waiting := hang(lost)
	if err := lost.Call(deadline(t), "Page.close", nil, nil); err != nil && !fault.Is(err, fault.BrowserGone) {
		t.Fatal(err)
	}
	if err := waiting.Wait(deadline(t), nil); !fault.Is(err, fault.BrowserGone) {
		t.Errorf("got %v", err)
	}
	await(t, "Gone", lost.Gone())
	if err := kept.Call(deadline(t), "Page.enable", nil, nil); err != nil {
		t.Errorf("the other tab: %v", err)
	}
}

// Closing goes through even when a page hangs for ever.
func TestCloseWithPageThatHangs(t *testing.T) {
	b := launch(t, Options{})
	s := openPage(t, b, "about:blank")
	busy := s.Send("Runtime.evaluate", runtime.EvaluateParams{Expression: "for(;;);"})
	began := time.Now()
	if err := b.Close(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 2*closeStep {
		t.Errorf("took %v", took)
	}
	if err := busy.Wait(deadline(t), nil); !fault.Is(err, fault.BrowserGone) {
		t.Errorf("got %v", err)
	}
}

func TestCloseAtOnceWithEndedContext(t *testing.T) {
	b := launch(t, Options{})
	if err := syscall.Kill(b.PID(), syscall.SIGSTOP); err != nil { // it cannot hear
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	if err := b.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > closeStep {
		t.Errorf("took %v", took)
	}
	if e := b.Exit(); !e.Asked || e.Signal != "killed" {
		t.Errorf("exit %+v", e)
	}
}

// Started without a window, Chromium does not end with its last one: who owns
// the browser decides.
func TestLastWindowClosed(t *testing.T) {
	b := launch(t, Options{})
	s := openPage(t, b, "about:blank")
	s.Send("Page.close", nil)
	await(t, "Gone", s.Gone())
	if err := openPage(t, b, "about:blank").Call(deadline(t), "Page.enable", nil, nil); err != nil {
		t.Errorf("a new window: %v", err)
	}
}

func TestNoListeningSockets(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "profile")
	b := launch(t, Options{Profile: profile})
	openPage(t, b, "about:blank")

	l, err := net.Listen("tcp", "127.0.0.1:0") // proof that the count would see one
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if n := listening(t, []int{os.Getpid()}); n != 1 {
		t.Fatalf("%d sockets seen of this process, want 1", n)
	}
	if n := listening(t, processesOf(t, profile, b.PID())); n != 0 {
		t.Errorf("%d listening sockets", n)
	}
}

// listening counts the TCP sockets on which processes listen.
func listening(t *testing.T, pids []int) (n int) {
	t.Helper()
	open := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		b, err := os.ReadFile(table)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" {
				open["socket:["+f[9]+"]"] = true
			}
		}
	}
	for _, pid := range pids {
		links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range links {
			if to, err := os.Readlink(l); err == nil && open[to] {
				n++
			}
		}
	}
	return n
}

// Chromium writes its title over its own environment, so a wrapper notes what it was given.
func TestEnvironmentHoldsNoSecretsAndNoBus(t *testing.T) {
	t.Setenv("CHROME_TEST_TOKEN", "hunter2")
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/the/persons/bus")
	dir := t.TempDir()
	noted, wrapper := filepath.Join(dir, "noted"), filepath.Join(dir, "chromium")
	text := fmt.Sprintf("#!/bin/sh\nenv > '%s'\nexec '%s' \"$@\"\n", noted, installed(t).Path)
	if err := os.WriteFile(wrapper, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	launch(t, Options{Install: Install{Path: wrapper}})
	env, err := os.ReadFile(noted)
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{"hunter2", "/the/persons/bus"} {
		if strings.Contains(string(env), kept) {
			t.Errorf("%q got through", kept)
		}
	}
	for _, given := range []string{"DISPLAY=", noBus} {
		if !strings.Contains(string(env), given) {
			t.Errorf("there is no %q in\n%s", given, env)
		}
	}
}

// A mailto: link needs no gesture and asks nobody; it must end in our stub.
func TestStubsComeFirst(t *testing.T) {
	dir := t.TempDir()
	called, decoy := filepath.Join(dir, "called"), filepath.Join(dir, "decoy")
	if err := os.MkdirAll(decoy, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(called, 0o600); err != nil {
		t.Fatal(err)
	}
	script := func(path, word string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho "+word+" > '"+called+"'\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range stubNames() {
		script(filepath.Join(decoy, name), "real")
	}
	env := append(environment(nil, ""), "PATH="+decoy+":"+os.Getenv("PATH"))
	profile := filepath.Join(dir, "profile")
	b := launch(t, Options{Profile: profile, Env: env})

	stubs, err := writeStubs(profile)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stubNames() {
		cmd := exec.Command(filepath.Join(stubs, name), "https://a.example")
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 1 || len(out) > 0 {
			t.Errorf("%s: exit %d, said %q", name, cmd.ProcessState.ExitCode(), out)
		}
	}
	script(filepath.Join(stubs, "xdg-open"), "stub")
	script(filepath.Join(stubs, "xdg-email"), "stub")

	said := make(chan string, 1)
	go func() {
		word, err := os.ReadFile(called) // ends when a script has written
		said <- fmt.Sprint(strings.TrimSpace(string(word)), err)
	}()
	openPage(t, b, "about:blank").Send("Page.navigate", map[string]string{"url": "mailto:ann@example.org"})
	select {
	case got := <-said:
		if got != "stub<nil>" && got != "stub <nil>" {
			t.Errorf("called: %s", got)
		}
	case <-time.After(within):
		t.Error("nothing was called")
		script(filepath.Join(stubs, "xdg-open"), "nobody")
		_ = exec.Command(filepath.Join(stubs, "xdg-open")).Run() // frees the reader
	}
}
