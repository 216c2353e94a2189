package chrome

import (
	_ "embed" // for the preferences
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// The preferences close what flags and the protocol cannot: speculative loads,
// suggestions, prompts for devices, printing, private windows, session restore.
//
//go:embed preferences.json
var preferences []byte

// prepareProfile makes dir fit for a start: private, with our preferences in
// place. What Chromium itself keeps in its preferences stays.
func prepareProfile(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "Default"), 0o700); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	return errors.Join(prefer(filepath.Join(dir, "Default", "Preferences"), preferences),
		prefer(filepath.Join(dir, "Local State"), localState))
}

// prefer lays ours over the preferences that are in the file path.
func prefer(path string, ours []byte) error {
	had, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return writeWhole(path, merge(had, ours))
}

// localState is what Chromium keeps for all its profiles. With those schemes a
// part of a page that asks for a sign-in gets none, instead of a native dialog
// that holds the page up and that no agent can see; documents are answered by
// the protocol.
var localState = []byte(`{"auth": {"schemes": "negotiate"}}`)

// merge lays over on base, object by object, and keeps every other byte of base
// as it was. A base that is no object is worth nothing to Chromium either.
func merge(base, over []byte) []byte {
	var b, o map[string]json.RawMessage
	if json.Unmarshal(over, &o) != nil || o == nil || json.Unmarshal(base, &b) != nil || b == nil {
		return over
	}
	for name, value := range o {
		b[name] = merge(b[name], value)
	}
	merged, err := json.Marshal(b)
	if err != nil {
		return over
	}
	return merged
}

// writeWhole replaces a file so that a reader sees the old or the new one.
func writeWhole(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if _, err = f.Write(data); err != nil {
		return errors.Join(err, f.Close())
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
