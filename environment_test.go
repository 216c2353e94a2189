package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFixLocale(t *testing.T) {
	names := []string{"LC_ALL", "LC_MESSAGES", "LC_CTYPE", "LANG"}
	for _, c := range []struct {
		set  map[string]string
		lang string
	}{
		{map[string]string{}, "en_US.UTF-8"},
		{map[string]string{"LANG": "C.UTF-8"}, "en_US.UTF-8"},
		{map[string]string{"LC_ALL": "POSIX", "LANG": "C"}, "en_US.UTF-8"},
		{map[string]string{"LANG": "de_DE.UTF-8"}, "de_DE.UTF-8"},
		{map[string]string{"LC_CTYPE": "C.UTF-8", "LANG": "cs_CZ.UTF-8"}, "cs_CZ.UTF-8"},
	} {
		for _, name := range names {
			t.Setenv(name, c.set[name])
		}
		fixLocale()
		if got := os.Getenv("LANG"); got != c.lang {
			t.Errorf("after %v LANG is %q, want %q", c.set, got, c.lang)
		}
		for _, name := range names {
			if v := strings.ToUpper(os.Getenv(name)); v == "POSIX" || v == "C" || strings.HasPrefix(v, "C.") {
				t.Errorf("after %v %s is still %q", c.set, name, v)
			}
		}
	}
}

func TestCheckDisplay(t *testing.T) {
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, "wayland-9"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, c := range []struct{ x, wayland, want string }{
		{"", "", "neither DISPLAY nor WAYLAND_DISPLAY is set"},
		{"", "wayland-8", "the display wayland-8 (WAYLAND_DISPLAY) does not answer"},
		{"", "wayland-9", ""},
		{"", filepath.Join(dir, "wayland-9"), ""},
		{"nonsense", "", "is not the name of a display"},
		{":x", "", "is not the name of a display"},
		{":94173", "", "the display :94173 (DISPLAY) does not answer"},
		{":94173", "wayland-9", ""},
		{"127.0.0.1:59511.0", "", "the display 127.0.0.1:59511.0 (DISPLAY) does not answer"},
	} {
		t.Setenv("XDG_RUNTIME_DIR", dir)
		t.Setenv("DISPLAY", c.x)
		t.Setenv("WAYLAND_DISPLAY", c.wayland)
		err := checkDisplay()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("DISPLAY %q, WAYLAND_DISPLAY %q: %v, want %q", c.x, c.wayland, err, c.want)
		}
	}
}
