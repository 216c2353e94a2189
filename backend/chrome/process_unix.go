//go:build unix

package chrome

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// supported is nil where browsers can be run.
func supported() error { return nil }

// killGroup ends a browser with all of its processes. It leads a group of its own.
func killGroup(pid int) { _ = unix.Kill(-pid, unix.SIGKILL) } // an empty group is as good

func lockFile(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	if err != nil {
		return fmt.Errorf("locking %s: %w", f.Name(), err)
	}
	return nil
}

// executable is os.ErrPermission when path cannot be run, also for the sake of
// how its file system is mounted.
func executable(path string) error { return unix.Access(path, unix.X_OK) }

func exitOf(state *os.ProcessState) Exit {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return Exit{Code: -1, Signal: ws.Signal().String()}
	}
	return Exit{Code: state.ExitCode()}
}

// pipes makes the two pipes that --remote-debugging-pipe expects as descriptors
// 3 and 4, and returns our ends.
func pipes(cmd *exec.Cmd) (in, out *os.File, err error) {
	commands, out, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	in, messages, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, commands.Close(), out.Close())
	}
	cmd.ExtraFiles = []*os.File{commands, messages}
	return in, out, nil
}
