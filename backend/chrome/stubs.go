package chrome

import (
	"errors"
	"os"
	"path/filepath"

	"chaperone/backend/fault"
)

// stubNames are the programs by which Chromium hands an address to another
// program of the desktop. It does so for mailto: without asking anyone.
func stubNames() []string {
	return []string{"xdg-open", "xdg-email", "xdg-settings", "gio", "gvfs-open", "gnome-open", "kde-open", "exo-open"}
}

// writeStubs puts programs of those names that only fail below the profile, and
// returns their directory.
func writeStubs(profile string) (string, error) {
	dir := filepath.Join(profile, "Chaperone Stubs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for _, name := range stubNames() {
		path := filepath.Join(dir, name)
		if err := writeWhole(path, []byte("#!/bin/sh\nexit 1\n")); err != nil {
			return "", err
		}
		if err := os.Chmod(path, 0o700); err != nil {
			return "", err
		}
		if err := executable(path); errors.Is(err, os.ErrPermission) {
			// The search for a program would pass over it and find the real one.
			return "", fault.New(fault.BrowserLaunchFailed, "programs below %s cannot be run", profile).
				WithHint("Set CHAPERONE_HOME to a directory on a file system that is not mounted noexec.")
		}
	}
	return dir, nil
}
