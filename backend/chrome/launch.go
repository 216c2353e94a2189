package chrome

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"chaperone/backend/fault"
)

// startTimeout bounds a start: eight at once on two busy cores take twelve seconds.
const startTimeout = 60 * time.Second

// Options are what a launch needs.
type Options struct {
	Install Install
	// Profile is the user data directory; made, private, when it does not exist.
	Profile string
	// Flags are added to the command line; for tests.
	Flags []string
	// Env is the browser's whole environment, but for the stubs that go first in
	// its PATH; nil passes on the part of ours that holds no secrets.
	Env []string
	// Display, when set, is where the browser's windows go instead of the environment's DISPLAY.
	Display string
	// Handler gets every event, in order, on the goroutine that also delivers the
	// replies: it must be quick, and must not Wait or Call. Send is fine. Nil
	// throws events away.
	Handler func(Event)
}

// Launch starts a browser without a window and returns when it answers. ctx
// bounds only the start, and so does a minute. Its errors are
// fault.BrowserUnavailable when this machine cannot run one,
// fault.BrowserLaunchFailed when it did not come up or the profile is in use,
// and fault.Cancelled when ctx was cancelled.
func Launch(ctx context.Context, o Options) (*Browser, error) {
	if err := supported(); err != nil {
		return nil, err
	}
	if o.Install.Path == "" || o.Profile == "" {
		return nil, fault.New(fault.Internal, "a launch without a program or without a profile")
	}
	profile, m, err := takeProfile(o.Profile)
	if err != nil {
		return nil, asFault(err, "the profile %s cannot be prepared", o.Profile)
	}
	b, stderr, err := start(o, profile, m)
	if err != nil {
		return nil, errors.Join(asFault(err, "Chromium cannot be started"), m.release())
	}
	if err := b.awaitReady(ctx, stderr); err != nil {
		return nil, err
	}
	return b, nil
}

// takeProfile locks a profile and makes it fit for a start. It returns its real
// path, so that it has one name on every command line.
func takeProfile(dir string) (profile string, m *marker, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	if profile, err = filepath.Abs(dir); err != nil {
		return "", nil, err
	}
	if profile, err = filepath.EvalSymlinks(profile); err != nil {
		return "", nil, err
	}
	m, err = lockMarker(profile)
	if errors.Is(err, errLocked) {
		return "", nil, profileInUse(profile, 0)
	}
	if err != nil {
		return "", nil, err
	}
	if err = clearSingleton(profile); err == nil {
		err = prepareProfile(profile)
	}
	if err != nil {
		return "", nil, errors.Join(err, m.release())
	}
	return profile, m, nil
}

// start brings the process up, with the goroutines that own it until Done. The
// marker is theirs unless there is an error.
func start(o Options, profile string, m *marker) (*Browser, *tail, error) {
	stubs, err := writeStubs(profile)
	if err != nil {
		return nil, nil, err
	}
	env := environment(o.Env, stubs)
	if o.Display != "" {
		env = append(env, "DISPLAY="+o.Display) // the last one counts
	}
	cmd := exec.Command(o.Install.Path, append(flags(profile, os.Getuid() == 0, env), o.Flags...)...)
	cmd.Env = env
	cmd.Dir = profile
	cmd.SysProcAttr = attributes()

	errRead, errWrite, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = errWrite.Close() }() // the process has its own
	cmd.Stderr = errWrite
	in, out, err := pipes(cmd)
	if err != nil {
		return nil, nil, errors.Join(err, errRead.Close())
	}

	b := &Browser{
		conn: newConn(o.Handler), in: in, out: out,
		exited: make(chan struct{}), drained: make(chan struct{}),
		written: make(chan struct{}), done: make(chan struct{}),
	}
	started := make(chan error)
	stderr := newTail(errRead)
	go b.own(cmd, m, stderr, started)
	if err := <-started; err != nil {
		return nil, nil, errors.Join(err, in.Close(), out.Close(), errRead.Close())
	}
	return b, stderr, nil
}

// own starts the process, waits for its end and then for everything that hangs
// from it. It keeps its thread to itself, since on Linux the browser dies with
// the thread that started it.
func (b *Browser) own(cmd *exec.Cmd, m *marker, stderr *tail, started chan<- error) {
	runtime.LockOSThread()
	err := cmd.Start()
	for _, f := range cmd.ExtraFiles {
		_ = f.Close() // the process has its own
	}
	if err != nil {
		started <- err
		return
	}
	b.pid = cmd.Process.Pid
	since, _, _ := process(b.pid)
	if err := m.write(owner{PID: b.pid, Started: since}); err != nil {
		// Without a marker nobody could clear up after us.
		killGroup(b.pid)
		started <- errors.Join(err, cmd.Wait())
		return
	}
	go b.read()
	go b.write()
	go stderr.read()
	started <- nil

	awaitEnd(b.pid)
	asked := b.asked.Load()
	killGroup(b.pid) // children that would outlive it
	_ = cmd.Wait()   // the state says it all
	b.exit = exitOf(cmd.ProcessState)
	b.exit.Asked = asked
	close(b.exited)

	// What it sent last is still in the pipe, and its children hold its standard
	// error until they are gone. One that left the group could hold either for
	// ever, so the wait has an end.
	t := time.NewTimer(drainTimeout)
	defer t.Stop()
	for _, ch := range []<-chan struct{}{b.drained, stderr.done} {
		select {
		case <-ch:
		case <-t.C:
			t.Reset(0)
		}
	}
	_ = errors.Join(b.in.Close(), b.out.Close(), stderr.r.Close()) // closed already is as good
	<-b.drained
	<-b.written
	<-stderr.done
	_ = errors.Join(m.clear(), m.release()) // at worst a sweep finds nobody there
	close(b.done)
}

// awaitReady returns when the browser answers. A browser that does not is ended.
func (b *Browser) awaitReady(ctx context.Context, stderr *tail) error {
	limited, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var version struct {
		Product string `json:"product"`
	}
	err := b.Root().Call(limited, "Browser.getVersion", nil, &version)
	if err == nil {
		stderr.forget()
		b.product = version.Product
		return nil
	}
	if fault.Is(err, fault.BrowserGone) {
		// It let go of the pipe; how it ended says more. That takes no longer than read allows.
		b.ends(limited, 2*closeStep)
	}
	exit := b.Exit()
	b.kill()
	b.ends(context.WithoutCancel(ctx), closeStep)
	said := stderr.forget()
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return fault.From(ctx.Err())
	case limited.Err() != nil:
		return fault.New(fault.BrowserLaunchFailed, "Chromium did not answer in time after its start%s", quote(said)).
			WithHint("The machine may be too busy; try again.")
	}
	if nonsense := errors.Unwrap(err); nonsense != nil {
		return fault.New(fault.BrowserLaunchFailed, "this is no Chromium that Chaperone can use: %w", nonsense).
			WithHint("Check which program CHAPERONE_CHROMIUM names.")
	}
	return ended(exit, said)
}

// ended explains a Chromium that ended instead of starting.
func ended(exit Exit, said string) error {
	how := fmt.Sprintf("exit status %d", exit.Code)
	if exit.Signal != "" {
		how = exit.Signal
	}
	switch {
	case strings.Contains(said, "Missing X server"), strings.Contains(said, "cannot open display"):
		return fault.New(fault.BrowserUnavailable, "Chromium found no display to show a window on").
			WithHint("Start Chaperone in a desktop session, or set DISPLAY (a virtual one will do: Xvfb :99).")
	case strings.Contains(said, "No usable sandbox"):
		return fault.New(fault.BrowserLaunchFailed, "Chromium cannot set up its sandbox on this system").
			WithHint("Allow unprivileged user namespaces, or install the distribution's Chromium package, which has a helper.")
	}
	return fault.New(fault.BrowserLaunchFailed, "Chromium ended while it started (%s)%s", how, quote(said)).
		WithHint("Start it once by hand to see what is wrong with it.")
}

func quote(said string) string {
	if said == "" {
		return ""
	}
	return "; it said: " + said
}

// asFault gives an error a code, unless it has one.
func asFault(err error, format string, args ...any) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return fault.New(fault.BrowserLaunchFailed, "%s: %w", fmt.Sprintf(format, args...), err).
		WithHint("Check that the directory can be written and that the disk is not full.")
}
