//go:build unix

package main

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// hasBus is whether notifications go by a session bus here.
const hasBus = runtime.GOOS != "darwin"

// freeBytes returns how much this user can still write in dir.
func freeBytes(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil
}

func canWrite(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }
