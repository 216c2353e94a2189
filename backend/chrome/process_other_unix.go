//go:build unix && !linux

package chrome

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attributes makes the browser lead a process group. It ends with its pipe.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitEnd has no counterpart here; the wait for the process itself does it.
func awaitEnd(int) {}

// process tells when a process started and its command line, as ps has them.
func process(pid int) (started string, cmdline []string, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second) // ps takes milliseconds
	defer cancel()
	ps := func(column string) string {
		out, err := exec.CommandContext(ctx, "ps", "-ww", "-o", column+"=", "-p", strconv.Itoa(pid)).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	started, line := ps("lstart"), ps("command")
	if started == "" || line == "" {
		return "", nil, false
	}
	// ps joins the words by blanks; a path may hold some, so cut at the flags.
	for i, word := range strings.Split(line, " --") {
		if i > 0 {
			word = "--" + word
		}
		cmdline = append(cmdline, word)
	}
	return started, cmdline, true
}

// endProcess kills a browser that is no child of ours, with its group when it
// leads one, and waits until it is gone, two seconds at the most.
func endProcess(pid int) error {
	if group, err := unix.Getpgid(pid); err == nil && group == pid {
		killGroup(pid)
	}
	_ = unix.Kill(pid, unix.SIGKILL) // gone already is what we want
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 100 {
		if unix.Kill(pid, 0) != nil {
			return nil
		}
		<-tick.C
	}
	return fmt.Errorf("process %d does not end", pid)
}
