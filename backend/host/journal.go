package host

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"chaperone/backend/browser"
	"chaperone/backend/event"
)

// store is the part of the ledger that a journal writes to.
type store interface {
	Append(ctx context.Context, drafts ...event.Draft) error
	AddVisit(ctx context.Context, v browser.Visit, drafts ...event.Draft) error
}

// backlog bounds what waits to be written, in entries; beyond it a full disk
// would become a full memory. What is dropped is counted in the log of the host.
const backlog = 50_000

// A journal takes down what windows tell, in order, without ever holding up
// the one who tells. It implements browser.Journal.
type journal struct {
	store store
	log   *slog.Logger

	mu      sync.Mutex
	entries []entry
	dropped int
	wake    chan struct{}
}

// An entry is a draft or a visit.
type entry struct {
	draft event.Draft
	visit *browser.Visit
}

func newJournal(s store, log *slog.Logger) *journal {
	return &journal{store: s, log: log, wake: make(chan struct{}, 1)}
}

// Note implements browser.Journal.
func (j *journal) Note(d event.Draft) { j.add(entry{draft: d}) }

// Visit implements browser.Journal.
func (j *journal) Visit(v browser.Visit) { j.add(entry{visit: &v}) }

func (j *journal) add(e entry) {
	j.mu.Lock()
	if len(j.entries) < backlog {
		j.entries = append(j.entries, e)
	} else {
		j.dropped++
	}
	j.mu.Unlock()
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

func (j *journal) take() []entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := j.entries
	j.entries = nil
	if j.dropped > 0 {
		j.log.Error("events of windows were lost", "count", j.dropped)
		j.dropped = 0
	}
	return out
}

// serve writes what comes in until ctx ends, and then what is left.
func (j *journal) serve(ctx context.Context, ready func()) error {
	ready()
	for {
		select {
		case <-j.wake:
			j.write(ctx, j.take())
		case <-ctx.Done():
			j.write(ctx, j.take())
			return ctx.Err()
		}
	}
}

// writeTime bounds one writing of what has come in.
const writeTime = 2 * time.Second

// write keeps the order: runs of drafts go in one transaction. What has come in
// is written also when ctx ends meanwhile.
func (j *journal) write(ctx context.Context, entries []entry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	var run []event.Draft
	flush := func() {
		if len(run) == 0 {
			return
		}
		if err := j.store.Append(ctx, run...); err != nil {
			j.log.Error("events of windows could not be written", "count", len(run), "err", err)
		}
		run = nil
	}
	for _, e := range entries {
		if e.visit == nil {
			if run = append(run, e.draft); len(run) == 500 {
				flush()
			}
			continue
		}
		flush()
		if err := j.store.AddVisit(ctx, *e.visit); err != nil {
			j.log.Error("a visit could not be written", "err", err)
		}
	}
	flush()
}
