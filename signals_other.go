//go:build !linux

package main

// mendSignals has nothing to mend: only WebKitGTK replaces Go's handlers.
func mendSignals() {}
