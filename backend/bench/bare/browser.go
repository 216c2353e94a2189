// Package bare is the yardstick: the least that a client can do to read and
// press in a headed Chromium over its debugging pipe.
//
// It promises nothing but speed: one process, one tab, no policy, no account,
// no recovery, no frames, no shadow roots. It shares no code with the product,
// or the comparison would say nothing.
package bare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// A Browser is a running Chromium with one tab.
type Browser struct {
	conn    *conn
	cmd     *exec.Cmd
	in, out *os.File
	session string
	target  string
	world   int64
}

// Launch starts the Chromium at path with an empty profile in dir and opens a
// tab. Close it.
func Launch(ctx context.Context, path, dir string) (_ *Browser, err error) {
	args := []string{
		"--remote-debugging-pipe", "--user-data-dir=" + dir, "--no-startup-window", "--no-first-run",
		"--no-default-browser-check", "--password-store=basic", "--disable-sync", "--disable-background-networking",
		"--disable-component-update", "--disable-extensions", "--disable-breakpad",
		"--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding", "--disable-background-timer-throttling",
		// As the product has it: a page that comes back from this cache is not loaded.
		"--disable-features=BackForwardCache",
	}
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium's own demand
	}
	commandsFrom, commandsTo, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answersFrom, answersTo, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, commandsFrom.Close(), commandsTo.Close())
	}
	b := &Browser{cmd: exec.Command(path, args...), in: commandsTo, out: answersFrom}
	b.cmd.ExtraFiles = []*os.File{commandsFrom, answersTo}
	err = errors.Join(b.cmd.Start(), commandsFrom.Close(), answersTo.Close())
	if err != nil {
		return nil, errors.Join(err, b.in.Close(), b.out.Close())
	}
	b.conn = newConn(b.in, b.out)
	if err := b.openTab(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Browser) openTab(ctx context.Context) error {
	var made struct {
		TargetID string `json:"targetId"`
	}
	err := b.conn.call(ctx, "", "Target.createTarget", map[string]any{"url": "about:blank", "newWindow": true}, &made)
	if err != nil {
		return err
	}
	b.target = made.TargetID
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	err = b.conn.call(ctx, "", "Target.attachToTarget", map[string]any{"targetId": b.target, "flatten": true}, &attached)
	if err != nil {
		return err
	}
	b.session = attached.SessionID
	// A covered window swallows input without this.
	return b.conn.call(ctx, b.session, "Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil)
}

// Version returns the browser's name and version.
func (b *Browser) Version(ctx context.Context) (string, error) {
	var v struct {
		Product string `json:"product"`
	}
	err := b.conn.call(ctx, "", "Browser.getVersion", nil, &v)
	return v.Product, err
}

// closeTime is how long a browser may take to end by itself; it takes under half a second.
const closeTime = 5 * time.Second

// Close ends the browser, which it does by itself when its pipe is closed.
func (b *Browser) Close() error {
	err := b.in.Close()
	ended := make(chan error, 1)
	go func() { ended <- b.cmd.Wait() }()
	limit := time.NewTimer(closeTime)
	defer limit.Stop()
	var exit error
	select {
	case exit = <-ended:
	case <-limit.C:
		err = errors.Join(err, errors.New("the browser did not end by itself"), b.cmd.Process.Kill())
		exit = <-ended
	}
	if exit != nil {
		err = errors.Join(err, fmt.Errorf("the browser: %w", exit))
	}
	<-b.conn.ended
	return errors.Join(err, b.out.Close())
}
