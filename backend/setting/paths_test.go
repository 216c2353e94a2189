package setting

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestPathsFrom(t *testing.T) {
	deep := "/home/ann/" + strings.Repeat("d", 90)
	for _, c := range []struct {
		name             string
		env              map[string]string
		data, state, run string
	}{
		{"all is told", map[string]string{"HOME": "/home/ann", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/run/user/7"},
			"/d/chaperone", "/s/chaperone", "/run/user/7/chaperone"},
		{"no runtime directory", map[string]string{"HOME": "/home/ann", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s"},
			"/d/chaperone", "/s/chaperone", "/s/chaperone/run"},
		{"relative values are ignored", map[string]string{"XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "run"},
			"/d/chaperone", "/s/chaperone", "/s/chaperone/run"},
		{"one home for all", map[string]string{"CHAPERONE_HOME": "/opt/c", "XDG_DATA_HOME": "/d", "XDG_RUNTIME_DIR": "/run/user/7"},
			"/opt/c/data", "/opt/c/state", "/opt/c/run"},
	} {
		p := PathsFrom(func(k string) string { return c.env[k] })
		if p.Data != c.data || p.State != c.state || p.Run != c.run {
			t.Errorf("%s: got %s, %s, %s", c.name, p.Data, p.State, p.Run)
		}
		if p.Socket != c.run+"/host.sock" || p.Lock != c.run+"/host.lock" || p.Host != c.run+"/host.json" ||
			p.Ledger != c.data+"/ledger.sqlite" || p.Agents != c.data+"/agents" || p.Log != c.state+"/host.log" {
			t.Errorf("%s: got %+v", c.name, p)
		}
	}

	tooDeep := func(home string) Paths {
		return PathsFrom(func(k string) string { return map[string]string{"CHAPERONE_HOME": home, "TMPDIR": "/var/tmp"}[k] })
	}
	a, b := tooDeep(deep), tooDeep(deep+"2")
	if len(a.Socket) > maxSocketPath || !strings.HasPrefix(a.Run, "/var/tmp/chaperone-"+strconv.Itoa(os.Getuid())+"-") {
		t.Errorf("too deep: got %s", a.Socket)
	}
	if a.Run == b.Run {
		t.Error("two homes share a runtime directory")
	}
	if a.Data != deep+"/data" {
		t.Errorf("only the runtime directory moves: got %s", a.Data)
	}
}

func TestPathsAreAbsolute(t *testing.T) {
	for _, env := range []map[string]string{{}, {"HOME": "relative"}, {"CHAPERONE_HOME": "here"}} {
		p := PathsFrom(func(k string) string { return env[k] })
		for _, path := range []string{p.Data, p.State, p.Run, p.Ledger, p.Agents, p.Socket, p.Lock, p.Host, p.Start, p.Log} {
			if !filepath.IsAbs(path) {
				t.Errorf("%v: %s", env, path)
			}
		}
	}
}
