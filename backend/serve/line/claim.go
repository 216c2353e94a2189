package line

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"chaperone/backend/fault"
	"chaperone/backend/setting"
)

// Host is who holds the claim, as it is written beside the lock.
type Host struct {
	PID int `json:"pid"`
	// Kind is "app" or "serve".
	Kind      string    `json:"kind"`
	Version   string    `json:"version"`
	StartedAt time.Time `json:"startedAt"`
	Socket    string    `json:"socket"`
}

// errHeld is what lock returns when another process holds it.
var errHeld = errors.New("held by another process")

// Claim makes this process the one host of the user, until release is called or
// the process ends in any way. It returns fault.Busy, at once, when there is a
// host already; the message says which.
func Claim(places setting.Paths, me Host) (release func(), err error) {
	if err := ownDirectory(filepath.Dir(places.Lock)); err != nil {
		return nil, err
	}
	unlock, err := lock(places.Lock)
	if errors.Is(err, errHeld) {
		return nil, running(places)
	}
	if err != nil {
		return nil, fmt.Errorf("claiming to be the host: %w", err)
	}
	text, err := json.Marshal(me)
	if err == nil {
		err = replace(places.Host, text)
	}
	if err != nil {
		unlock()
		return nil, fmt.Errorf("claiming to be the host: %w", err)
	}
	return func() {
		_ = os.Remove(places.Host) // the next host overwrites it
		unlock()
	}, nil
}

// Running returns the host that has noted itself here, and whether it is alive.
// Between its claim and its note there is a moment in which it is not seen.
func Running(places setting.Paths) (Host, bool) {
	h, ok := noted(places)
	return h, ok && alive(h.PID)
}

func noted(places setting.Paths) (h Host, ok bool) {
	text, err := os.ReadFile(places.Host)
	return h, err == nil && json.Unmarshal(text, &h) == nil && h.PID > 0
}

func running(places setting.Paths) error {
	h, ok := noted(places)
	if !ok {
		return fault.New(fault.Busy, "Chaperone is running already").WithHint("There is one host for each user; use that one.")
	}
	what, hint := "a host without a window", fmt.Sprintf("There is one host for each user; end that one first (kill %d).", h.PID)
	if h.Kind == "app" {
		what, hint = "the app", "There is one host for each user; use that one, or close it first."
	}
	return fault.New(fault.Busy, "Chaperone is running already: %s, process %d, version %s", what, h.PID, h.Version).WithHint(hint)
}

// replace writes a file in one step.
func replace(path string, text []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// StartLock takes the lock of the one who starts a host, without waiting. ok is
// false when another process is at it.
func StartLock(places setting.Paths) (release func(), ok bool, err error) {
	if err := ownDirectory(filepath.Dir(places.Start)); err != nil {
		return nil, false, err
	}
	release, err = lock(places.Start)
	if errors.Is(err, errHeld) {
		return nil, false, nil
	}
	return release, err == nil, err
}
