package chrome

import (
	"errors"
	"os"
	"path/filepath"
)

// sweepDepth is how far below its root a sweep looks for profiles:
// agents/<name>/profile needs three.
const sweepDepth = 4

// Sweep clears up after a host that was killed: for every profile below root
// that no living host holds, it ends the Chromium that was left on it, if any,
// and removes stale locks. It returns the processes that it ended. A profile
// that it could not clear does not keep it from the others.
func Sweep(root string) (ended []int, err error) {
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	// The real path is what stands on the command lines.
	root, err = filepath.EvalSymlinks(root)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // nothing was ever started
	}
	if err != nil {
		return nil, err
	}
	for _, profile := range profiles(root, sweepDepth) {
		pid, sweepErr := sweepOne(profile)
		if pid != 0 {
			ended = append(ended, pid)
		}
		err = errors.Join(err, sweepErr)
	}
	return ended, err
}

func profiles(dir string, depth int) []string {
	if _, err := os.Lstat(filepath.Join(dir, markerName)); err == nil {
		return []string{dir}
	}
	if depth == 0 {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // nothing there yet, or nothing of ours
	}
	var found []string
	for _, e := range entries {
		if e.IsDir() {
			found = append(found, profiles(filepath.Join(dir, e.Name()), depth-1)...)
		}
	}
	return found
}

func sweepOne(profile string) (pid int, err error) {
	m, err := lockMarker(profile)
	if errors.Is(err, errLocked) {
		return 0, nil // its host lives
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, m.release()) }()
	if pid = m.livingOwner(profile); pid != 0 {
		if err := endProcess(pid); err != nil {
			return 0, err
		}
	}
	if err := clearSingleton(profile); err != nil {
		return pid, err
	}
	return pid, m.clear()
}
