package tiers

import (
	"slices"
	"sync"
	"time"
)

// A Status is what a tier is doing.
type Status string

// The statuses.
const (
	// Down: it has not started, or has stopped.
	Down Status = "down"
	// Starting: its services start; it is not yet ready.
	Starting Status = "starting"
	// Up: all its services are ready.
	Up Status = "up"
	// Restarting: one of its services failed and is started again.
	Restarting Status = "restarting"
	// Failing: its services failed too often; it rests before it tries again.
	Failing Status = "failing"
	// Stopping: it was told to stop.
	Stopping Status = "stopping"
)

// Values lists the statuses, for schemas.
func (Status) Values() []string {
	return []string{"down", "starting", "up", "restarting", "failing", "stopping"}
}

// A State is a tier's status, since when, and why.
type State struct {
	Tier   string    `json:"tier" jsonschema:"the tier's name"`
	Status Status    `json:"status" jsonschema:"what it is doing"`
	Since  time.Time `json:"since" jsonschema:"when that began"`
	Error  string    `json:"error,omitempty" jsonschema:"why it last failed, while it is not up again"`
}

// Statuses remembers the state of each tier, for a health check. Its Set is an
// Options.OnChange. The zero value is ready to use, by many at once.
type Statuses struct {
	mu     sync.Mutex
	states []State
}

// Set takes down a change.
func (s *Statuses) Set(tier string, status Status, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.states, func(x State) bool { return x.Tier == tier })
	if i < 0 {
		i = len(s.states)
		s.states = append(s.states, State{Tier: tier})
	}
	x := &s.states[i]
	x.Status, x.Since = status, time.Now()
	switch {
	case err != nil:
		x.Error = err.Error()
	case status == Up || status == Down:
		x.Error = ""
	}
}

// List returns the states, lowest tier first.
func (s *Statuses) List() []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.states)
}

// Healthy reports whether there are tiers and all of them are up.
func (s *Statuses) Healthy() bool {
	states := s.List()
	return len(states) > 0 && !slices.ContainsFunc(states, func(x State) bool { return x.Status != Up })
}
