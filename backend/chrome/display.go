package chrome

import (
	"net"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"chaperone/backend/fault"
)

// Display reports whether windows can be shown: nil, or fault.BrowserUnavailable
// with the reason. env looks up an environment variable. On Linux an X or
// Wayland display must take a connection, within half a second; elsewhere there
// always is a display.
func Display(env func(string) string) error {
	if runtime.GOOS != "linux" {
		return nil
	}
	x, wayland := env("DISPLAY"), env("WAYLAND_DISPLAY")
	if x == "" && wayland == "" {
		return fault.New(fault.BrowserUnavailable, "there is no display to show a window on").
			WithHint("Start Chaperone in a desktop session, or set DISPLAY (a virtual one will do: Xvfb :99).")
	}
	if wayland != "" && (accepts("unix", waylandSocket(wayland, env("XDG_RUNTIME_DIR")))) {
		return nil
	}
	if x != "" && acceptsX(x) {
		return nil
	}
	named := "DISPLAY=" + x
	if x == "" {
		named = "WAYLAND_DISPLAY=" + wayland
	}
	return fault.New(fault.BrowserUnavailable, "the display %s does not answer", named).
		WithHint("Check that the display server runs and that this user may use it.")
}

func waylandSocket(name, runtimeDir string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(runtimeDir, name)
}

// acceptsX tries a display such as ":0", ":0.0", "unix:0" or "host:10".
func acceptsX(display string) bool {
	colon := strings.LastIndexByte(display, ':')
	if colon < 0 {
		return false
	}
	host := display[:colon]
	number, _, _ := strings.Cut(display[colon+1:], ".")
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil || n > 59535 {
		return false
	}
	if host == "" || host == "unix" {
		path := "/tmp/.X11-unix/X" + number
		return accepts("unix", path) || accepts("unix", "@"+path)
	}
	return accepts("tcp", net.JoinHostPort(host, strconv.FormatUint(6000+n, 10)))
}

func accepts(network, address string) bool {
	c, err := net.DialTimeout(network, address, 500*time.Millisecond)
	if err != nil {
		return false
	}
	_ = c.Close() // it only had to open
	return true
}
