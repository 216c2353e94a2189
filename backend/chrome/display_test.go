//go:build unix

package chrome

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chaperone/backend/fault"
)

func TestDisplay(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "wayland-7"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	real := os.Getenv("DISPLAY")
	for _, c := range []struct{ name, x, wayland, runtime, message string }{
		{"real", real, "", "", ""},
		{"real with screen", real + ".0", "", "", ""},
		{"none", "", "", dir, "no display"},
		{"dead", ":59999", "", "", "DISPLAY=:59999"},
		{"not a display", "screen", "", "", "DISPLAY=screen"},
		{"number too large", ":99999999999", "", "", "does not answer"},
		{"wayland", "", "wayland-7", dir, ""},
		{"wayland by path", "", filepath.Join(dir, "wayland-7"), "", ""},
		{"wayland dead", "", "wayland-8", dir, "WAYLAND_DISPLAY=wayland-8"},
		{"wayland dead, X alive", real, "wayland-8", dir, ""},
	} {
		err := Display(func(name string) string {
			return map[string]string{"DISPLAY": c.x, "WAYLAND_DISPLAY": c.wayland, "XDG_RUNTIME_DIR": c.runtime}[name]
		})
		if c.message == "" && err != nil || c.message != "" &&
			(!fault.Is(err, fault.BrowserUnavailable) || !strings.Contains(err.Error(), c.message)) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("LC_TIME", "C")
	t.Setenv("LANGUAGE", "de")
	t.Setenv("XDG_DATA_DIRS", "/x")
	t.Setenv("FONTCONFIG_PATH", "/f")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	t.Setenv("HOMEBREW_TOKEN", "s")
	t.Setenv("SSH_AUTH_SOCK", "s")
	t.Setenv("PATH", "/p")
	got := environment(nil, "/stubs")
	for name, want := range map[string]string{
		"LC_TIME": "C", "LANGUAGE": "de", "XDG_DATA_DIRS": "/x", "FONTCONFIG_PATH": "/f", "PATH": "/stubs:/p",
		"AWS_SECRET_ACCESS_KEY": "", "HOMEBREW_TOKEN": "", "SSH_AUTH_SOCK": "",
	} {
		if v := lookup(got, name); v != want {
			t.Errorf("%s=%s, want %q", name, v, want)
		}
	}
	full := []string{"A=1", "PATH=/a", "PATH=/b"}
	if got := strings.Join(environment(full, "/stubs"), " "); got != "A=1 PATH=/stubs:/b" {
		t.Errorf("a whole one: %s", got)
	}
	if got := strings.Join(environment([]string{}, "/stubs"), " "); got != "PATH=/stubs:/usr/local/bin:/usr/bin:/bin" {
		t.Errorf("an empty one: %s", got)
	}
}
