//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// detach gives the program a session of its own, so that no signal to ours reaches it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
