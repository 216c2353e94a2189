// Package ids names things.
//
// Every kind of thing has a type of its own, so that the compiler refuses an
// agent where a session is meant. New identifiers are random UUIDs behind a
// short prefix that says what they name.
package ids

import (
	"strings"

	"github.com/google/uuid"
)

type (
	// Agent names an agent: the name it gave in hello, or a fresh one.
	Agent string
	// Session names an agent's browser window across restarts of Chromium.
	Session string
	// Tab numbers a tab within its session, from 1; a number is never used again.
	Tab int
	// Call names one call of an action.
	Call string
	// Question names one question to the person.
	Question string
)

// NewAgent returns a name for an agent that gave none.
func NewAgent() Agent { return Agent("agent-" + short()) }

// NewSession returns a fresh session name.
func NewSession() Session { return Session("sess_" + full()) }

// NewCall returns a fresh call name.
func NewCall() Call { return Call("call_" + full()) }

// NewQuestion returns a fresh question name.
func NewQuestion() Question { return Question("q_" + full()) }

func full() string  { return strings.ReplaceAll(uuid.NewString(), "-", "") }
func short() string { return full()[:8] }
