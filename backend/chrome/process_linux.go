package chrome

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attributes makes the browser lead a process group, and die with the thread
// that starts it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitEnd returns when the process has ended but still has its number, so that
// its group can be ended without a chance of hitting another.
func awaitEnd(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// process tells when a process started and its command line; !ok when there is
// no such process, or it has ended and only waits to be collected.
func process(pid int) (started string, cmdline []string, ok bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return "", nil, false
	}
	// The second field is a name in brackets that may hold anything; the state is
	// the first after it and the start the twentieth.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return "", nil, false
	}
	args, err := os.ReadFile(dir + "/cmdline")
	if err != nil {
		return "", nil, false
	}
	// Chromium rewrites its command line; then blanks stand between the words.
	return fields[19], strings.Split(strings.TrimRight(string(args), "\x00 "), "\x00"), true
}

// endProcess kills a browser that is no child of ours, with its group when it
// leads one, and waits until it is gone, two seconds at the most.
func endProcess(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("opening process %d: %w", pid, err)
	}
	defer func() { _ = unix.Close(fd) }() // only read from
	if group, err := unix.Getpgid(pid); err == nil && group == pid {
		killGroup(pid)
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("ending process %d: %w", pid, err)
	}
	for deadline := time.Now().Add(2 * time.Second); ; {
		left := time.Until(deadline)
		if left <= 0 {
			return fmt.Errorf("process %d does not end", pid)
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		if n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("waiting for process %d: %w", pid, err)
		}
	}
}
