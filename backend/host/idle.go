package host

import (
	"context"
	"errors"
	"time"
)

// errIdle ends a host that nobody needs any more.
var errIdle = errors.New("no agent has been connected for a while")

// leaveIdle calls end once no agent has been connected and nothing has happened
// for o.Idle at least, twice that at most. It returns then, or when ctx ends.
func (w *whole) leaveIdle(ctx context.Context, end context.CancelCauseFunc) {
	tick := time.NewTicker(w.h.o.Idle)
	defer tick.Stop()
	before := int64(-1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// An agent that came and went in between has left rows.
		last, err := w.ledger.Last(ctx)
		if err == nil && last == before && w.status().Agents == 0 {
			w.h.log.Info("the host ends", "reason", errIdle)
			end(errIdle)
			return
		}
		before = last
	}
}
