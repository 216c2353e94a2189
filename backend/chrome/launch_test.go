//go:build unix

package chrome

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"chaperone/backend/fault"
)

// program writes a shell script that stands in for Chromium.
func program(t *testing.T, script string) Install {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return Install{Path: path}
}

func TestLaunchesThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		script, message string
		code            fault.Code
	}{
		"ends": {"echo 'no  such thing' >&2; exit 3", "(exit status 3); it said: no such thing",
			fault.BrowserLaunchFailed},
		"killed":     {"kill -9 $$", "(killed)", fault.BrowserLaunchFailed},
		"display":    {"echo 'E: Missing X server or $DISPLAY' >&2; exit 1", "no display", fault.BrowserUnavailable},
		"sandbox":    {"echo 'F: No usable sandbox!' >&2; exit 1", "sandbox", fault.BrowserLaunchFailed},
		"nonsense":   {`printf 'hello\0' >&4; read x <&3`, "not a message", fault.BrowserLaunchFailed},
		"lets go":    {`exec 3<&- 4>&-; sleep 60`, "killed", fault.BrowserLaunchFailed},
		"other tool": {`read x; exit 0`, "exit status 0", fault.BrowserLaunchFailed},
	} {
		t.Run(name, func(t *testing.T) {
			profile := filepath.Join(t.TempDir(), "profile")
			b, err := Launch(deadline(t), Options{Install: program(t, c.script), Profile: profile})
			f, ok := errors.AsType[*fault.Error](err)
			if b != nil || !ok || f.Code != c.code || !strings.Contains(f.Message, c.message) || f.Hint == "" {
				t.Errorf("got %v", err)
			}
			m, err := lockMarker(profile)
			if err != nil {
				t.Fatalf("the profile is still taken: %v", err)
			}
			if err := m.release(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLaunchWithoutProgram(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "profile")
	_, err := Launch(deadline(t), Options{Install: Install{Path: "/nowhere/chromium"}, Profile: profile})
	if !fault.Is(err, fault.BrowserLaunchFailed) {
		t.Errorf("got %v", err)
	}
}

func TestLaunchInUnusableProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Launch(deadline(t), Options{Install: program(t, ""), Profile: filepath.Join(file, "profile")})
	if !fault.Is(err, fault.BrowserLaunchFailed) {
		t.Errorf("got %v", err)
	}
}

func TestLaunchEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	up := filepath.Join(dir, "up")
	if err := syscall.Mkfifo(up, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	i := program(t, `echo > '`+up+`'; sleep 60`)
	said := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(up) // ends when the program has come up
		cancel()
		said <- err
	}()
	b, err := Launch(ctx, Options{Install: i, Profile: filepath.Join(dir, "profile")})
	if b != nil || !fault.Is(err, fault.Cancelled) {
		t.Errorf("got %v", err)
	}
	if err := <-said; err != nil {
		t.Error(err)
	}
	nothingLeft(t, filepath.Join(dir, "profile"), -1)
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, override, goos string
		have                 []string
		want                 string
		hint                 string
	}{
		{"the first", "", "linux", []string{"google-chrome", "chromium"}, "chromium", ""},
		{"the second name", "", "linux", []string{"google-chrome", "chromium-browser"}, "chromium-browser", ""},
		{"chrome", "", "linux", []string{"google-chrome"}, "google-chrome", ""},
		{"override", "/opt/c", "linux", []string{"chromium", "/opt/c"}, "/opt/c", ""},
		{"override that is not there", "/opt/c", "linux", []string{"chromium"}, "", "CHAPERONE_CHROMIUM"},
		{"mac", "", "darwin", []string{"/Applications/Chromium.app/Contents/MacOS/Chromium"},
			"/Applications/Chromium.app/Contents/MacOS/Chromium", ""},
		{"mac path elsewhere", "", "linux", []string{"/Applications/Chromium.app/Contents/MacOS/Chromium"}, "",
			"sudo apt install chromium"},
		{"nothing on mac", "", "darwin", nil, "", "brew install"},
	} {
		got, err := find(c.override, c.goos, func(name string) (string, error) {
			for _, h := range c.have {
				if h == name {
					return name, nil
				}
			}
			return "", errors.New("not found")
		})
		if c.want != "" {
			if err != nil || got != (Install{Path: c.want}) {
				t.Errorf("%s: got %v, %v", c.name, got, err)
			}
			continue
		}
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Code != fault.BrowserUnavailable || !strings.Contains(f.Hint, c.hint) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

func TestReadVersion(t *testing.T) {
	real, err := installed(t).ReadVersion(deadline(t))
	if err != nil || len(strings.Split(real.Version, ".")) != 4 {
		t.Errorf("got %q, %v", real.Version, err)
	}
	got, err := program(t, "echo Google Chrome 150.1.2.3 beta").ReadVersion(deadline(t))
	if err != nil || got.Version != "150.1.2.3" {
		t.Errorf("got %q, %v", got.Version, err)
	}
	if _, err = program(t, "echo 7").ReadVersion(deadline(t)); !fault.Is(err, fault.BrowserUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestFlags(t *testing.T) {
	const sandbox, wayland = "--no-sandbox", "--ozone-platform=wayland"
	for _, c := range []struct {
		name         string
		root         bool
		env          []string
		has, missing string
	}{
		{"a person keeps the sandbox", false, []string{"DISPLAY=:0"}, "--user-data-dir=/p", sandbox},
		{"root cannot have it", true, []string{"DISPLAY=:0"}, sandbox, wayland},
		{"only wayland", false, []string{"WAYLAND_DISPLAY=wayland-0"}, wayland, sandbox},
		{"both displays", false, []string{"WAYLAND_DISPLAY=wayland-0", "DISPLAY=:0"}, "--no-startup-window", wayland},
	} {
		got := flags("/p", c.root, c.env)
		if !slices.Contains(got, c.has) || slices.Contains(got, c.missing) {
			t.Errorf("%s: %v", c.name, got)
		}
		if slices.ContainsFunc(got, func(f string) bool { return !strings.HasPrefix(f, "--") }) {
			t.Errorf("%s: an argument that is no flag would be opened as an address: %v", c.name, got)
		}
	}
}
