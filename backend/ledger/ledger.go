// Package ledger keeps what happened and what was decided, in one SQLite file.
//
// It promises:
//
//   - A change and the rows of the log that tell of it are one transaction. When
//     a method returns nil they are on the disk, past a loss of power; when it
//     returns an error nothing was written.
//   - The bus rings after the transaction, never before.
//   - The log is a chain of hashes (chain.go): Verify finds a row that was
//     changed, removed, added or moved.
//   - Everything in it is bounded; each method says how.
//
// One goroutine writes, and takes all that waits for it into one transaction;
// readers have connections of their own that cannot write. All SQL of the
// program is in this package. It decides nothing: what a row means is the
// business of those who write it. The file is one process's alone; whoever
// opens it has made sure that there is no second.
//
// Every error is a *fault.Error with code LEDGER_UNAVAILABLE, unless a method
// says otherwise or the context ended first.
package ledger

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"chaperone/backend/event"
)

// Options says how a ledger is kept. The zero value is usable.
type Options struct {
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Log hears of what goes wrong; nil for nobody.
	Log *slog.Logger
	// Rows is how many rows the log keeps at most; default 20,000, at least 2.
	Rows int
}

// A Ledger is an open ledger file. Its methods may be called by many at once.
type Ledger struct {
	path    string
	bus     *event.Bus
	log     *slog.Logger
	readers *sql.DB

	requests chan *request
	last     atomic.Int64

	closing chan struct{} // closed by Close: no more requests
	closed  chan struct{} // closed by the writer when it has ended
	once    sync.Once
	err     error // of Close; the writer's until it has ended
}

var _ event.Log = (*Ledger)(nil)

// Open opens the ledger at path, or begins it, with its directory (mode 0700;
// the file 0600). ctx bounds the opening alone.
//
// A file of a newer version of the program is refused. A damaged one is kept
// beside path, renamed to path.corrupt-TIME, and a new one begun whose first
// row, "ledger.replaced", says so.
func Open(ctx context.Context, path string, bus *event.Bus, o Options) (*Ledger, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Rows == 0 {
		o.Rows = 20_000
	}
	o.Rows = max(o.Rows, 2)

	l, err := open(ctx, path, bus, o)
	if err == nil || !damaged(err) {
		return l, failure(err)
	}
	kept, moveErr := setAside(path, o.Now())
	if moveErr != nil {
		return nil, failure(errors.Join(err, moveErr))
	}
	o.Log.Error("the ledger file is damaged; it is kept aside and a new one begun", "kept", kept, "err", err)
	if l, err = open(ctx, path, bus, o); err != nil {
		return nil, failure(err)
	}
	draft := event.Draft{Category: "ledger.replaced", Data: map[string]string{
		"kept": kept, "reason": "The file was damaged. Settings, site rules and history begin anew.",
	}}
	if err := l.Append(ctx, draft); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Close ends the ledger when what was taken to be written is written. It may be
// called more than once. Later calls of any method fail.
func (l *Ledger) Close() error {
	l.once.Do(func() {
		close(l.closing)
		<-l.closed
	})
	return l.err
}

// Size returns how many rows the log has, how many bytes the files take, and
// the newest row's sequence.
func (l *Ledger) Size(ctx context.Context) (rows, bytes, last int64, err error) {
	err = l.readers.QueryRowContext(ctx, `SELECT head_seq - anchor_seq, head_seq FROM chain`).Scan(&rows, &last)
	if err != nil {
		return 0, 0, 0, l.unreadable(ctx, err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(l.path + suffix); err == nil {
			bytes += info.Size()
		}
	}
	return rows, bytes, last, nil
}
