//go:build !unix

package main

import (
	"os"

	"chaperone/backend/serve/line"
)

// raises delivers nothing: there is no way to ask on this system yet.
func raises() <-chan os.Signal { return nil }

// raise does not reach the app that runs.
func raise(line.Host) bool { return false }
