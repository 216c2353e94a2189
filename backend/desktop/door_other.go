//go:build !linux

package desktop

import "log/slog"

// A Door is a display of its own for one Chromium; there are none on this system.
type Door struct{}

// Open returns nil: there is no X server to stand before.
func Open(func(string) string, *slog.Logger) *Door { return nil }

// Display is empty.
func (*Door) Display() string { return "" }

// Close does nothing.
func (*Door) Close() {}
