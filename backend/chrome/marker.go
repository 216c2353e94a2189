package chrome

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"chaperone/backend/fault"
)

// markerName is the file of a profile that tells whose it is. Whoever runs a
// browser on the profile holds a lock on the file, which the system takes away
// when that process dies; its content names the browser's process until the
// browser has ended.
const markerName = "Chaperone Browser"

var errLocked = errors.New("locked by another process")

type marker struct{ f *os.File }

// owner names a process so that another one with the same number is not taken for it.
type owner struct {
	PID int `json:"pid"`
	// Started is when it started, in the system's own words.
	Started string `json:"started"`
}

// lockMarker takes the profile; errLocked when somebody else has it.
func lockMarker(profile string) (*marker, error) {
	f, err := os.OpenFile(filepath.Join(profile, markerName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &marker{f}, nil
}

// read returns who was written down; the zero owner when nobody is.
func (m *marker) read() (o owner) {
	b, err := io.ReadAll(io.NewSectionReader(m.f, 0, 4096))
	if err != nil || json.Unmarshal(b, &o) != nil {
		return owner{}
	}
	return o
}

func (m *marker) write(o owner) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := m.f.Truncate(0); err != nil {
		return err
	}
	_, err = m.f.WriteAt(b, 0)
	return err
}

// clear says that no browser runs.
func (m *marker) clear() error { return m.f.Truncate(0) }

// release gives the profile back.
func (m *marker) release() error { return m.f.Close() }

// livingOwner returns the process of the browser that a crash left on the
// profile, 0 when there is none: it must have the number and the start that
// were written down, and name the profile on its command line.
func (m *marker) livingOwner(profile string) int {
	o := m.read()
	if o.PID <= 1 {
		return 0
	}
	started, cmdline, ok := process(o.PID)
	if !ok || started != o.Started || !uses(cmdline, profile) {
		return 0
	}
	return o.PID
}

// uses reports whether a process was started on profile. Chromium rewrites its
// command line a moment after its start; then it is one text with blanks.
func uses(cmdline []string, profile string) bool {
	const blank = " "
	flag := "--user-data-dir=" + profile
	for _, arg := range cmdline {
		if arg == flag || strings.Contains(blank+arg+blank, blank+flag+blank) {
			return true
		}
	}
	return false
}

// clearSingleton removes Chromium's own lock from a profile unless a living
// Chromium on this host holds it. Left behind, the lock of another host name
// makes Chromium ask in a window that nobody sees.
func clearSingleton(profile string) error {
	link, err := os.Readlink(filepath.Join(profile, "SingletonLock"))
	if err == nil {
		// The form is host-pid, and a host name may hold a hyphen.
		dash := strings.LastIndexByte(link, '-')
		pid, numErr := strconv.Atoi(link[dash+1:])
		host, hostErr := os.Hostname()
		if dash > 0 && numErr == nil && hostErr == nil && link[:dash] == host {
			if _, cmdline, ok := process(pid); ok && uses(cmdline, profile) {
				return profileInUse(profile, pid)
			}
		}
	}
	if socket, err := os.Readlink(filepath.Join(profile, "SingletonSocket")); err == nil {
		removeSocket(socket)
	}
	for _, name := range []string{"SingletonLock", "SingletonCookie", "SingletonSocket"} {
		if err := os.Remove(filepath.Join(profile, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// removeSocket removes a dead Chromium's socket with its directory in /tmp,
// where one would be left by each crash. It touches nothing else there.
func removeSocket(path string) {
	dir := filepath.Dir(path)
	if filepath.Base(path) != "SingletonSocket" || !strings.Contains(filepath.Base(dir), "org.chromium.") &&
		!strings.Contains(filepath.Base(dir), "com.google.") {
		return
	}
	for _, p := range []string{path, filepath.Join(dir, "SingletonCookie"), dir} {
		_ = os.Remove(p) // a directory only when empty; what stays costs nothing but tidiness
	}
}

func profileInUse(profile string, pid int) error {
	by := "another process"
	if pid > 0 {
		by = "process " + strconv.Itoa(pid)
	}
	return fault.New(fault.BrowserLaunchFailed, "the profile %s is in use by %s", profile, by).
		WithHint("Close the browser that uses it, then try again.")
}
