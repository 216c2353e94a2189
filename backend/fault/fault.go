// Package fault is the one error type that leaves the program.
//
// It promises that every error a door writes has a stable code to branch on, a
// message in plain words, and, where there is one, a hint that says what to do
// next. It must not know what the errors are about: a package that fails makes
// its own with New.
package fault

import (
	"context"
	"errors"
	"fmt"
)

// A Code is what a program may branch on. Codes are wire format: one is never
// renamed and never given a second meaning.
type Code string

// The codes. The first seven are those of the embedded-browser seam that
// agents already know.
const (
	// BrowserUnavailable: there is no browser, no display or no host to use.
	BrowserUnavailable Code = "BROWSER_UNAVAILABLE"
	// BrowserLaunchFailed: Chromium was found but did not become ready.
	BrowserLaunchFailed Code = "BROWSER_LAUNCH_FAILED"
	// BrowserGone: the window, tab or page went away while the call was under way.
	BrowserGone Code = "BROWSER_GONE"
	// BrowserTimeout: the call's time ran out.
	BrowserTimeout Code = "BROWSER_TIMEOUT"
	// BrowserDisposing: the host is closing and starts nothing new.
	BrowserDisposing Code = "BROWSER_DISPOSING"
	// BrowserDisabled: the person turned agent control off.
	BrowserDisabled Code = "BROWSER_DISABLED"
	// BrowserPolicyDenied: a rule, or the person, said no.
	BrowserPolicyDenied Code = "BROWSER_POLICY_DENIED"

	// BadLine: a line is not a JSON object of the expected form.
	BadLine Code = "BAD_LINE"
	// LineTooLong: a line is longer than the door accepts.
	LineTooLong Code = "LINE_TOO_LONG"
	// UnknownMethod: no such method, or not one for this caller.
	UnknownMethod Code = "UNKNOWN_METHOD"
	// InvalidArguments: the arguments do not fit the method's schema.
	InvalidArguments Code = "INVALID_ARGUMENTS"
	// UnsupportedProtocol: hello asked for a protocol version that this host does not speak.
	UnsupportedProtocol Code = "UNSUPPORTED_PROTOCOL"
	// NotFound: the thing named does not exist, or no longer does.
	NotFound Code = "NOT_FOUND"
	// Cancelled: the caller took the call back.
	Cancelled Code = "CANCELLED"
	// AgentPaused: the person paused this agent.
	AgentPaused Code = "AGENT_PAUSED"
	// AgentStopped: the person stopped this agent.
	AgentStopped Code = "AGENT_STOPPED"
	// LedgerUnavailable: the account of what happens cannot be written, so nothing happens.
	LedgerUnavailable Code = "LEDGER_UNAVAILABLE"
	// Busy: a bound of the host is reached.
	Busy Code = "BUSY"
	// Internal: a defect of the program.
	Internal Code = "INTERNAL"
)

// An Effect says whether a call that did not succeed changed anything.
type Effect string

// The effects. The zero value means that nobody knows more than the code says.
const (
	// EffectNone: nothing reached the page.
	EffectNone Effect = "none"
	// EffectCommitted: it happened, only the answer is missing.
	EffectCommitted Effect = "committed"
	// EffectUnknown: it may have happened; do not repeat it blindly.
	EffectUnknown Effect = "unknown"
)

// An Error says what failed and what the caller can do about it.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Hint says what to do next; empty where there is nothing to do.
	Hint string `json:"hint,omitempty"`
	// Effect is set on timeouts, cancellations and losses.
	Effect Effect `json:"effect_state,omitempty"`

	cause error
}

// Error implements error.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns what was behind e, for logs; it never leaves the program.
func (e *Error) Unwrap() error { return e.cause }

// New returns an error with code and a formatted message. A %w operand is kept
// as the cause.
func New(code Code, format string, args ...any) *Error {
	w := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: w.Error(), cause: errors.Unwrap(w)}
}

// WithHint returns a copy of e with hint.
func (e *Error) WithHint(hint string) *Error {
	c := *e
	c.Hint = hint
	return &c
}

// WithEffect returns a copy of e with effect.
func (e *Error) WithEffect(effect Effect) *Error {
	c := *e
	c.Effect = effect
	return &c
}

// Because returns a copy of e with cause behind it.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// From returns err as an *Error. An end of context becomes Cancelled or
// BrowserTimeout; the cause of a cancelled context is looked at by its owner,
// not here. Anything unknown becomes Internal with a bland message, so that no
// detail of the program or of a page leaves by accident.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: BrowserTimeout, Message: "the time for this call ran out", Effect: EffectUnknown, cause: err}
	case errors.Is(err, context.Canceled):
		return &Error{Code: Cancelled, Message: "the call was cancelled", Effect: EffectUnknown, cause: err}
	}
	return &Error{Code: Internal, Message: "internal error", Hint: "This is a defect of Chaperone; its log has the details.", cause: err}
}

// Is reports whether err carries code.
func Is(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}
