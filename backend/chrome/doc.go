// Package chrome finds, launches, watches and ends a Chromium, and talks to it
// over its debugging pipe.
//
// It promises: a browser opens no port and asks nothing of the network by
// itself that preferences and flags can close; commands of one browser are
// written in the order of Send and may be pipelined; events reach the one
// Handler in the order in which Chromium sent them; when Chromium ends, for
// whatever reason, every reply that waits fails at once with BROWSER_GONE and
// Done closes; no process and no goroutine outlives Done.
//
// It must not know pages, tabs, agents or policy, and it logs nothing: what
// goes through the pipe is a person's business.
package chrome
