// Package event is the account of what happened, as a log that is read by cursor.
//
// The audit log, the event stream and the history of a thing are this one log
// seen three ways. A row is appended in the same transaction as the change that
// it tells of (package ledger); a Bus only rings to say that there is something
// after N. So a subscriber that is slow misses nothing and holds nobody up.
package event

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"chaperone/backend/ids"
)

// A Draft is an event that is not yet in the log.
type Draft struct {
	// Category is what happened, dotted, most general first: "browser.tab.opened".
	Category string
	// Subject is the thing that it happened to: a session, an agent, a question, an origin.
	Subject string
	// Agent is whose doing it was; empty for the host and the person.
	Agent ids.Agent
	// Call is the call that it belongs to, if any.
	Call ids.Call
	// Data is a JSON object with the particulars. Never secrets, typed text or page content.
	Data any
}

// An Event is a row of the log.
type Event struct {
	Seq      int64           `json:"seq" jsonschema:"place in the log, from 1"`
	At       time.Time       `json:"at" jsonschema:"when it was written"`
	Category string          `json:"category" jsonschema:"what happened, dotted, most general first"`
	Subject  string          `json:"subject,omitempty" jsonschema:"the thing that it happened to"`
	Agent    ids.Agent       `json:"agent,omitempty" jsonschema:"whose doing it was; absent for the host and the person"`
	Call     ids.Call        `json:"call,omitempty" jsonschema:"the call that it belongs to"`
	Data     json.RawMessage `json:"data,omitempty" jsonschema:"the particulars"`
	Hash     string          `json:"hash" jsonschema:"SHA-256 of this row and the hash of the row before it, in hex"`
}

// A Filter chooses events. The zero value chooses all.
type Filter struct {
	// Prefix is a category or the start of one, whole words: "browser" chooses "browser.tab.opened".
	Prefix string
	// Subject is an exact subject.
	Subject string
	// Agent is an exact agent.
	Agent ids.Agent
}

// Match reports whether f chooses e.
func (f Filter) Match(e Event) bool {
	if f.Prefix != "" && e.Category != f.Prefix && !strings.HasPrefix(e.Category, strings.TrimSuffix(f.Prefix, ".")+".") {
		return false
	}
	return (f.Subject == "" || f.Subject == e.Subject) && (f.Agent == "" || f.Agent == e.Agent)
}

// A Log is where events are kept.
type Log interface {
	// Append writes drafts as consecutive rows in one transaction and rings the
	// bus. When it returns an error nothing was written: fault.LedgerUnavailable.
	Append(ctx context.Context, drafts ...Draft) error
	// After returns at most limit events with a sequence above seq, oldest first.
	After(ctx context.Context, seq int64, limit int) ([]Event, error)
	// Last returns the sequence of the newest row, 0 in an empty log.
	Last(ctx context.Context) (int64, error)
}

// A Bus tells readers of the log that there is more to read. The zero value is
// ready to use.
type Bus struct {
	mu   sync.Mutex
	last int64
	wake chan struct{}
}

// Ring says that the log now reaches to seq. A smaller seq than before is ignored.
func (b *Bus) Ring(seq int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if seq <= b.last {
		return
	}
	b.last = seq
	if b.wake != nil {
		close(b.wake)
		b.wake = nil
	}
}

// Wait returns the newest known sequence as soon as it is above seq, or the
// context's error. It bounds nothing itself: a subscriber waits as long as it lives.
func (b *Bus) Wait(ctx context.Context, seq int64) (int64, error) {
	for {
		b.mu.Lock()
		if b.last > seq {
			last := b.last
			b.mu.Unlock()
			return last, nil
		}
		if b.wake == nil {
			b.wake = make(chan struct{})
		}
		wake := b.wake
		b.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}
