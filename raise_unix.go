//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"chaperone/backend/serve/line"
)

// raises delivers each request of a second start to bring the window to the front.
// WebKit keeps SIGUSR1 for itself.
func raises() <-chan os.Signal {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR2)
	return asked
}

// raise asks the app that runs to show itself, and reports whether it was asked.
func raise(running line.Host) bool {
	return running.Kind == "app" && syscall.Kill(running.PID, syscall.SIGUSR2) == nil
}
