package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"chaperone/backend/chrome"
	"chaperone/backend/fault"
	"chaperone/backend/serve/line"
	"chaperone/backend/setting"

	"github.com/dustin/go-humanize"
	"github.com/godbus/dbus/v5"
	"github.com/spf13/cobra"
)

// A verdict is how a thing was found.
type verdict string

// The verdicts. Something that is bad keeps agents from working.
const (
	good  verdict = "ok"
	doubt verdict = "warn"
	bad   verdict = "fail"
)

// finding is one line of the doctor's report.
type finding struct {
	Name    string  `json:"name"`
	Verdict verdict `json:"verdict"`
	Says    string  `json:"says"`
	// Do is what to do about it.
	Do string `json:"do,omitempty"`
}

// Free space below which there is a doubt, and below which rows may not be written.
const (
	fewBytes = 1 << 30
	noBytes  = 100 << 20
)

func doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "doctor", Short: "Check what Chaperone needs (exit code 1 when something fails)", Args: noArgs,
		Long: "Check what Chaperone needs, and say what to do where something is missing. Nothing is started or changed.",
		RunE: func(c *cobra.Command, _ []string) error {
			found := examine(c.Context(), os.Getenv)
			out := c.OutOrStdout()
			var err error
			if asJSON {
				err = printJSON(out, map[string]any{"findings": found})
			} else {
				err = printFindings(out, found)
			}
			for _, f := range found {
				if f.Verdict == bad && err == nil {
					err = errSaid
				}
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printFindings(out io.Writer, found []finding) error {
	for _, f := range found {
		if _, err := fmt.Fprintf(out, "%-4s  %-13s  %s\n", f.Verdict, f.Name, f.Says); err != nil {
			return err
		}
		if f.Do != "" {
			if _, err := fmt.Fprintf(out, "%21s  → %s\n", "", f.Do); err != nil {
				return err
			}
		}
	}
	return nil
}

func examine(ctx context.Context, env func(string) string) []finding {
	places := setting.PathsFrom(env)
	return []finding{
		chromium(ctx, env), display(env), runtimeDirectory(places), running(ctx, places),
		writable(places), space(places), notifications(ctx, env), app(),
	}
}

// verdictOf makes a finding of an error.
func verdictOf(name string, v verdict, err error) finding {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return finding{Name: name, Verdict: v, Says: err.Error()}
	}
	return finding{Name: name, Verdict: v, Says: e.Message, Do: e.Hint}
}

func chromium(ctx context.Context, env func(string) string) finding {
	const name = "Chromium"
	found, err := chrome.Find(env("CHAPERONE_CHROMIUM"))
	if err != nil {
		return verdictOf(name, bad, err)
	}
	if found, err = found.ReadVersion(ctx); err != nil {
		return verdictOf(name, bad, err)
	}
	return finding{Name: name, Verdict: good, Says: found.Path + ", version " + found.Version}
}

func display(env func(string) string) finding {
	const name = "Display"
	if err := chrome.Display(env); err != nil {
		return verdictOf(name, bad, err)
	}
	return finding{Name: name, Verdict: good, Says: "windows can be shown"}
}

func runtimeDirectory(places setting.Paths) finding {
	f := finding{Name: "Socket", Verdict: good, Says: places.Socket}
	switch open, err := line.CheckDirectory(places.Run); {
	case errors.Is(err, fs.ErrNotExist):
		f.Says += " (made when a host starts)"
	case err != nil:
		f.Verdict, f.Says = bad, err.Error()
		f.Do = "Remove it, or name another place in CHAPERONE_HOME."
	case open:
		f.Verdict, f.Says = doubt, "other users can enter "+places.Run
		f.Do = "It is closed when a host starts; to do it now: chmod 700 " + places.Run
	}
	return f
}

func running(ctx context.Context, places setting.Paths) finding {
	const name = "Host"
	status, err := ask(ctx, places)
	if err == nil {
		what := "without a window"
		if status.Kind == "app" {
			what = "the app"
		}
		return finding{Name: name, Verdict: good, Says: fmt.Sprintf("running: %s, process %d, version %s", what, status.PID, status.Version)}
	}
	if _, runs := line.Running(places); runs {
		return finding{Name: name, Verdict: bad, Says: "a host is running but cannot be reached: " + err.Error(),
			Do: "End it, and start Chaperone again."}
	}
	return finding{Name: name, Verdict: good, Says: "not running; the first agent starts one"}
}

func writable(places setting.Paths) finding {
	f := finding{Name: "Data", Verdict: good, Says: places.Data}
	for _, dir := range []string{places.Data, places.State} {
		if at := existing(dir); !canWrite(at) {
			f.Verdict, f.Says = bad, "nothing can be written in "+at
			f.Do = "Give this user the right to write there, or name another place in CHAPERONE_HOME."
		}
	}
	return f
}

// existing returns dir, or the nearest directory above it that exists.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func space(places setting.Paths) finding {
	const name = "Disk"
	free, err := freeBytes(existing(places.Data))
	if err != nil {
		return finding{Name: name, Verdict: doubt, Says: "free space is not known: " + err.Error()}
	}
	f := finding{Name: name, Verdict: good, Says: humanize.IBytes(free) + " free"}
	const do = "Make room: on a full disk nothing can be recorded, and so agents can do nothing."
	switch {
	case free < noBytes:
		f.Verdict, f.Do = bad, do
	case free < fewBytes:
		f.Verdict, f.Do = doubt, do
	}
	return f
}

func app() finding {
	const name = "App"
	self, err := os.Executable()
	if err == nil {
		var path string
		if path, err = findApp(self); err == nil {
			return finding{Name: name, Verdict: good, Says: path}
		}
	}
	return finding{Name: name, Verdict: doubt, Says: appProgram + " is neither next to this program nor in PATH: nobody can be asked",
		Do: "Put it next to this program, or in PATH."}
}

// asksBus bounds the questions to the session bus.
const asksBus = 2 * time.Second

func notifications(ctx context.Context, env func(string) string) finding {
	const name, service = "Notifications", "org.freedesktop.Notifications"
	f := finding{Name: name, Verdict: doubt, Do: "Questions still show in the app's window; for notifications, run it in a desktop session."}
	if !hasBus {
		return finding{Name: name, Verdict: good, Says: "by the system"}
	}
	// Never dbus.SessionBus: it would start a bus.
	address := env("DBUS_SESSION_BUS_ADDRESS")
	if address == "" && env("XDG_RUNTIME_DIR") != "" {
		if socket := filepath.Join(env("XDG_RUNTIME_DIR"), "bus"); existing(socket) == socket {
			address = "unix:path=" + socket
		}
	}
	if address == "" {
		f.Says = "there is no session bus"
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, asksBus)
	defer cancel()
	bus, err := dbus.Connect(address, dbus.WithContext(ctx))
	if err != nil {
		f.Says = "the session bus does not answer: " + err.Error()
		return f
	}
	defer bus.Close()
	var owned bool
	var names []string
	err = bus.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, service).Store(&owned)
	if err == nil && !owned {
		err = bus.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.ListActivatableNames", 0).Store(&names)
	}
	if err != nil {
		f.Says = "the session bus does not answer: " + err.Error()
		return f
	}
	for _, n := range names {
		owned = owned || n == service
	}
	if !owned {
		f.Says = "nothing on this desktop shows notifications"
		return f
	}
	return finding{Name: name, Verdict: good, Says: "shown by the desktop"}
}
