package chrome

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	o.Install = installed(t)
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
