package chrome

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// passed are the variables of our own environment that a browser may see; one
// that ends in * stands for all that begin so. Keys and tokens of the agents'
// shells are not among them.
func passed() []string {
	return []string{
		"HOME", "USER", "LOGNAME", "PATH", "TZ", "LANG*", "LC_*", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
		"XDG_*", "FONTCONFIG_*",
	}
}

// noBus keeps a browser off the person's session bus. Over the bus it would hand
// links of other schemes to the desktop portal, past the stubs in its PATH, and
// so start programs that nobody was asked about.
const noBus = "DBUS_SESSION_BUS_ADDRESS=disabled:"

// environment returns what the browser gets: full when it is not nil, else the
// safe part of our own, without the session bus; with stubs, when given, first
// in its PATH.
func environment(full []string, stubs string) []string {
	if full == nil {
		full = slices.DeleteFunc(os.Environ(), func(kv string) bool {
			name, _, _ := strings.Cut(kv, "=")
			return !slices.ContainsFunc(passed(), func(p string) bool {
				start, any := strings.CutSuffix(p, "*")
				return name == p || any && strings.HasPrefix(name, start)
			})
		})
		full = append(full, noBus)
	}
	if stubs == "" {
		return full
	}
	path := "/usr/local/bin:/usr/bin:/bin"
	if p := lookup(full, "PATH"); p != "" {
		path = p
	}
	env := slices.DeleteFunc(slices.Clone(full), func(kv string) bool { return strings.HasPrefix(kv, "PATH=") })
	return append(env, "PATH="+stubs+string(filepath.ListSeparator)+path)
}

// lookup returns the last value of a variable, the one that counts.
func lookup(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
