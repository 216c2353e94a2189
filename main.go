// Command chaperone-desktop is the app in which a person watches over agents.
//
// It opens one window on the people's side of a host that it runs itself. All
// that the page in the window can do goes through App.Send; there is no other
// way in, and none for a program outside.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/logger"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/runtime"

	"chaperone/backend/fault"
	"chaperone/backend/host"
	"chaperone/backend/serve/line"
)

//go:embed all:frontend/dist
var assets embed.FS

//go:embed build/appicon.png
var icon []byte

// closeWithin bounds the end of the host, which promises ten seconds.
const closeWithin = 12 * time.Second

func main() { os.Exit(run()) }

func run() int {
	showVersion := flag.Bool("version", false, "print the version and exit")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), "Usage: chaperone-desktop [--version]\n\n"+
			"Opens the app in which a person watches over agents. Agents come in by `chaperone bridge`.\n")
	}
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "chaperone: the app takes no argument %q\n", flag.Arg(0))
		return 2
	}
	if *showVersion {
		fmt.Println("chaperone-desktop", version())
		return 0
	}
	fixLocale()
	if err := checkDisplay(); err != nil {
		return failed(fmt.Errorf("no window can be opened: %w. Use `chaperone serve` where there is no display", err))
	}
	page, err := fs.Sub(assets, "frontend/dist")
	if err != nil {
		return failed(err)
	}

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	raised := raises()

	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	slog.SetDefault(log)
	h, err := host.New(host.Options{Version: version(), Kind: host.App, Home: os.Getenv("CHAPERONE_HOME"), Log: log})
	if err != nil {
		return failed(err)
	}
	// From here on a person can be asked: an agent that comes in while the
	// window is still being drawn waits for it and is not refused.
	leave := h.Attend()
	defer leave()

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	running := &running{over: make(chan struct{})}
	go func() {
		running.err = h.Run(ctx)
		close(running.over)
	}()
	select {
	case <-h.Ready():
	case <-running.over:
		if first, runs := line.Running(h.Paths()); runs && fault.Is(running.err, fault.Busy) && raise(first) {
			fmt.Println("Chaperone is open already; its window comes to the front.")
			return 0
		}
		return running.finish()
	case <-signals:
		cancel()
		return running.finish()
	}

	w := &window{people: h.People(), notify: newNotifier(), signals: signals}
	end := func() int {
		leave()
		cancel()
		w.wait()
		return running.finish()
	}
	w.abandon = func() { os.Exit(end()) }
	told, closed := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	go insist(told, running.over, closed, w.abandon) // ends with the window, or ends the program
	app := &App{send: func(line []byte) []byte { return w.answer(ctx, line) }}
	err = wails.Run(&options.App{
		Title: "Chaperone",
		Width: 1180, Height: 760, MinWidth: 800, MinHeight: 600,
		// Shown when the page is there, so that no empty frame flashes up.
		StartHidden:        true,
		BackgroundColour:   options.NewRGB(0x14, 0x15, 0x18),
		AssetServer:        &assetserver.Options{Assets: page},
		Bind:               []any{app},
		LogLevelProduction: logger.ERROR,
		Linux: &linux.Options{
			Icon:        icon,
			ProgramName: "chaperone",
			// The zero value is Always, which needs a working GPU.
			WebviewGpuPolicy: linux.WebviewGpuPolicyNever,
		},
		OnStartup: func(ui context.Context) {
			show := func() { runtime.WindowUnminimise(ui); runtime.WindowShow(ui) }
			w.start(ctx, func(name string, data ...any) { runtime.EventsEmit(ui, name, data...) }, show)
			w.tasks.Go(func() {
				for {
					select {
					case <-raised:
						show()
					case <-running.over:
						w.ended.Store(true)
						runtime.Quit(ui)
						return
					case <-ctx.Done():
						return
					}
				}
			})
		},
		OnDomReady: func(ui context.Context) {
			mendSignals()
			runtime.WindowShow(ui)
		},
		OnBeforeClose: w.beforeClose,
	})
	close(closed)
	return max(end(), failed(err))
}

// running is a host that runs until over is closed; then err is its end.
type running struct {
	over chan struct{}
	err  error
}

// finish waits for the host's end and returns the program's exit status.
func (r *running) finish() int {
	limit := time.NewTimer(closeWithin)
	defer limit.Stop()
	select {
	case <-r.over:
		if errors.Is(r.err, context.Canceled) {
			return 0
		}
		return failed(r.err)
	case <-limit.C:
		return failed(fmt.Errorf("the host did not end within %v", closeWithin))
	}
}

// failed says on stderr what went wrong, if anything did, and returns the exit status.
func failed(err error) int {
	if err == nil {
		return 0
	}
	text := err.Error()
	if f, ok := errors.AsType[*fault.Error](err); ok {
		text = f.Message
		if f.Hint != "" {
			text += ". " + f.Hint
		}
	}
	fmt.Fprintln(os.Stderr, "chaperone:", text)
	return 1
}

// version is what the build stamped: a tag, or a commit's pseudo-version.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
