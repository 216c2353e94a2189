// Package line is the agents' door: the line protocol of package wire over any
// two-way stream, and the unix socket that agents' bridges connect to.
//
// One connection is one line of one agent. The door says who asks by the
// connection alone, always an agent, so no field of a message can make a caller
// anybody else; what only a person may do does not exist here. It promises that
// calls take their place in line in the order in which they were written, that
// answers go out as they come, and that a slow, silent or dead caller costs
// nobody else anything. It must not know what any method of the catalogue does.
package line

import (
	"context"
	"log/slog"
	"time"

	"chaperone/backend/action"
	"chaperone/backend/agent"
	"chaperone/backend/event"
	"chaperone/backend/ids"
)

// The bounds of one line.
const (
	// atOnce is how many calls of one line may be under way.
	atOnce = 64
	// connecting bounds what it takes to make or find an agent.
	connecting = 10 * time.Second
	// patience is how long one write may wait for the caller to read.
	patience = 30 * time.Second
	// parting is how long the last answers may take when the host stops.
	parting = 3 * time.Second
	// finishing is what a call under way may still run after bye, and finishingAll
	// bounds all of them together, a person's thinking included.
	finishing    = 10 * time.Second
	finishingAll = 2 * time.Minute
	// leaving bounds what follows the end of a line: first for its calls to come
	// back, then for the agent to leave.
	leaving = 10 * time.Second
)

// Agents knows the agents.
type Agents interface {
	// Connect adds a line to the agent of that name; "" makes a fresh agent.
	Connect(ctx context.Context, name ids.Agent) (agent.Connected, error)
}

// Status is what there is to say of a host to any program of the same user.
type Status struct {
	Kind      string    `json:"kind" jsonschema:"app or serve"`
	PID       int       `json:"pid"`
	Version   string    `json:"version"`
	StartedAt time.Time `json:"startedAt"`
	// Agents is how many are connected, Sessions how many windows are open.
	Agents   int `json:"agents"`
	Sessions int `json:"sessions"`
	// Attended is whether a person could answer a question.
	Attended bool `json:"attended" jsonschema:"whether a person could answer a question"`
}

// A Door serves lines. All fields are required and not changed after the first use.
type Door struct {
	Dispatcher *action.Dispatcher
	Agents     Agents
	Log        event.Log
	Bus        *event.Bus
	Version    string
	Status     func() Status
	// Notes takes what the host's own log should know: never what a line contains.
	Notes *slog.Logger
}
