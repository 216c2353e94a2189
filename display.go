package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// checkDisplay says in plain words why no window can be opened, or returns nil.
// GTK ends the process with a stack trace when it finds no display, so it is
// looked at first.
func checkDisplay() error {
	wayland, x := os.Getenv("WAYLAND_DISPLAY"), os.Getenv("DISPLAY")
	if wayland != "" {
		socket := wayland
		if !filepath.IsAbs(socket) {
			socket = filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), wayland)
		}
		if answers("unix", socket) {
			return nil
		}
	}
	if x == "" && wayland == "" {
		return fmt.Errorf("there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set")
	}
	if x == "" {
		return fmt.Errorf("the display %s (WAYLAND_DISPLAY) does not answer", wayland)
	}
	host, number, ok := strings.Cut(x, ":")
	number, _, _ = strings.Cut(number, ".")
	n, err := strconv.Atoi(number)
	if !ok || err != nil {
		return fmt.Errorf("DISPLAY is %q, which is not the name of a display", x)
	}
	if host == "" || host == "unix" {
		socket := "/tmp/.X11-unix/X" + number
		if answers("unix", socket) || answers("unix", "@"+socket) {
			return nil
		}
	} else if answers("tcp", net.JoinHostPort(host, strconv.Itoa(6000+n))) {
		return nil
	}
	return fmt.Errorf("the display %s (DISPLAY) does not answer", x)
}

// answers reports whether something accepts connections at address. A display
// on this machine answers in microseconds, one across a network within the two seconds.
func answers(network, address string) bool {
	conn, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
