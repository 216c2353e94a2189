package setting

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Paths is where things are kept, all absolute. It is the only list of places.
type Paths struct {
	// Data is what must last, State what may be lost, Run what ends with the host.
	Data, State, Run string
	// Ledger is the SQLite file, Agents the directory of the agents' profiles.
	Ledger, Agents string
	// Socket is where agents come in. Lock is held by the one host, and Host
	// tells who that is. Start is held by the one who starts a host.
	Socket, Lock, Host, Start string
	// Log is what a host that was started in the background writes.
	Log string
}

// maxSocketPath is the longest address of a unix socket that every system
// takes, in bytes: 104 with the closing zero on macOS.
const maxSocketPath = 103

// PathsFrom returns the places by the environment: CHAPERONE_HOME, below which
// all of them are, or else the XDG variables and their defaults. Values that
// are not absolute are ignored, as XDG wants it. Where the runtime directory is
// too deep for a socket, it is one of the same user's in the directory for
// temporary files, told apart by a digest; whoever uses it must check its owner.
// Nothing is created.
func PathsFrom(env func(string) string) Paths {
	dir := func(name string, otherwise ...string) string {
		if v := env(name); filepath.IsAbs(v) {
			return filepath.Clean(v)
		}
		return filepath.Join(otherwise...)
	}
	home := dir("HOME")
	if home == "" {
		home, _ = os.UserHomeDir() // without one, everything is below the current directory's root
		home = filepath.Join(string(filepath.Separator), home)
	}
	var p Paths
	if own := env("CHAPERONE_HOME"); own != "" {
		if abs, err := filepath.Abs(own); err == nil {
			own = abs
		}
		p.Data, p.State, p.Run = filepath.Join(own, "data"), filepath.Join(own, "state"), filepath.Join(own, "run")
	} else {
		data, state := filepath.Join(home, ".local", "share"), filepath.Join(home, ".local", "state")
		if runtime.GOOS == "darwin" {
			data = filepath.Join(home, "Library", "Application Support")
			state = data
		}
		p.Data = filepath.Join(dir("XDG_DATA_HOME", data), "chaperone")
		p.State = filepath.Join(dir("XDG_STATE_HOME", state), "chaperone")
		p.Run = filepath.Join(p.State, "run")
		if run := dir("XDG_RUNTIME_DIR"); run != "" {
			p.Run = filepath.Join(run, "chaperone")
		}
	}
	if len(filepath.Join(p.Run, "host.sock")) > maxSocketPath {
		sum := sha256.Sum256([]byte(p.Run))
		tmp := dir("TMPDIR", os.TempDir())
		if len(tmp) > maxSocketPath/2 {
			tmp = "/tmp"
		}
		p.Run = filepath.Join(tmp, fmt.Sprintf("chaperone-%d-%s", os.Getuid(), hex.EncodeToString(sum[:4])))
	}
	p.Ledger, p.Agents = filepath.Join(p.Data, "ledger.sqlite"), filepath.Join(p.Data, "agents")
	p.Socket, p.Lock = filepath.Join(p.Run, "host.sock"), filepath.Join(p.Run, "host.lock")
	p.Host, p.Start = filepath.Join(p.Run, "host.json"), filepath.Join(p.Run, "start.lock")
	p.Log = filepath.Join(p.State, "host.log")
	return p
}
