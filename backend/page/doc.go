// Package page sees and acts on one tab through its CDP sessions.
//
// It promises: a page's text reaches the caller cleaned, bounded and never cut
// silently; a ref names one element for as long as that element lives and
// never acts on another; input is real, and goes to a point that was tested to
// reach its target; the value of a password never leaves this package; what the
// page refuses is a Report, while errors are faults or ErrInterrupted; no call
// outlasts its context, and none hangs while a dialog is open or a navigation
// is held.
//
// It must not know windows, agents or policy, and it logs nothing.
package page
