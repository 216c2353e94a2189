package desktop

import (
	"bytes"
	"encoding/binary"
	"testing"
)

func TestDisplays(t *testing.T) {
	for display, want := range map[string]server{
		":0":           {network: "unix", address: "/tmp/.X11-unix/X0", number: "0"},
		":12.1":        {network: "unix", address: "/tmp/.X11-unix/X12", number: "12", screen: ".1"},
		"unix:3":       {network: "unix", address: "/tmp/.X11-unix/X3", number: "3"},
		"localhost:10": {network: "tcp", address: "localhost:6010", number: "10"},
	} {
		got, err := parse(display)
		if err != nil || got.network != want.network || got.address != want.address || got.number != want.number || got.screen != want.screen {
			t.Errorf("%s: %+v, %v; want %+v", display, got, err, want)
		}
	}
	for _, display := range []string{"", "screen", ":", ":x", ":-1", ":99999999"} {
		if got, err := parse(display); err == nil {
			t.Errorf("%q: %+v, want an error", display, got)
		}
	}
}

// entry makes one of an authority file's.
func entry(family uint16, fields ...string) []byte {
	b := binary.BigEndian.AppendUint16(nil, family)
	for _, f := range fields {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(f))), f...)
	}
	return b
}

func TestCookies(t *testing.T) {
	here := entry(256, "desk", "0", cookieKind, "mine")
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"none", nil, ""},
		{"this machine's", here, "mine"},
		{"after another display's", append(entry(256, "desk", "1", cookieKind, "other"), here...), "mine"},
		{"after another machine's", append(entry(256, "laptop", "0", cookieKind, "old"), here...), "mine"},
		{"only another machine's", entry(256, "laptop", "0", cookieKind, "old"), "old"},
		{"every machine's and display's", entry(65535, "", "", cookieKind, "any"), "any"},
		{"another kind", entry(256, "desk", "0", "XDM-AUTHORIZATION-1", "no"), ""},
		{"cut off", here[:len(here)-1], ""},
		{"with something behind", append(bytes.Clone(here), 1), "mine"},
	} {
		if got := readCookie(c.file, "desk", "0"); string(got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzCookie(f *testing.F) {
	f.Add(entry(256, "desk", "0", cookieKind, "mine"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if got := readCookie(file, "desk", "0"); len(got) > len(file) {
			t.Fatalf("%d bytes of %d", len(got), len(file))
		}
	})
}

func FuzzWelcome(f *testing.F) {
	f.Add(make([]byte, 60))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, _, err := roots(b, le); err == nil && len(b) < 44 {
			t.Fatalf("a window was read from %d bytes", len(b))
		}
	})
}
