package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"log/slog"
	"time"

	"chaperone/backend/event"
	"chaperone/backend/fault"
)

// batch is how many requests one transaction takes at most, so that the first
// of them does not wait without bound.
const batch = 256

// A change is the part of a request that is not the log. It may run more than
// once, and returns whether it changed anything: if not, the request's rows,
// which would tell of it, are not written. A *fault.Error refuses this request
// alone; any other error is the ledger's.
type change func(ctx context.Context, c *sql.Conn) (changed bool, err error)

type request struct {
	change change // nil for none
	rows   []row
	done   chan error // takes one answer without blocking
}

// write hands a change and the drafts that tell of it to the writer, and
// returns when they are on the disk. Once the writer has taken them the end of
// ctx no longer counts: the answer is what became of them, and comes as soon as
// the disk lets it.
func (l *Ledger) write(ctx context.Context, c change, drafts []event.Draft) error {
	rows, err := encode(drafts)
	if err != nil {
		return err
	}
	r := &request{c, rows, make(chan error, 1)}
	if ctx.Err() != nil {
		return ended(ctx)
	}
	select {
	case l.requests <- r:
		return <-r.done
	case <-ctx.Done():
		return ended(ctx)
	case <-l.closing:
		return isClosed()
	}
}

// serve is the writer's goroutine. Close waits for it.
func (l *Ledger) serve(w *writer) {
	defer close(l.closed)
	for {
		select {
		case r := <-l.requests:
			l.commit(w, l.gather(r))
		case <-l.closing:
			// Readers first: the last connection to close moves the write-ahead
			// log into the file, and only the writer's may write.
			readers := l.readers.Close()
			w.drop()
			l.err = failure(errors.Join(readers, w.db.Close()))
			return
		}
	}
}

// gather returns r and whatever else waits at this moment.
func (l *Ledger) gather(r *request) []*request {
	rs := []*request{r}
	for len(rs) < batch {
		select {
		case r := <-l.requests:
			rs = append(rs, r)
		default:
			return rs
		}
	}
	return rs
}

func (l *Ledger) commit(w *writer, rs []*request) {
	err := w.transact(rs)
	if _, refused := errors.AsType[*fault.Error](err); refused && len(rs) > 1 {
		// One of them was refused; the others shall not suffer for it.
		for _, r := range rs {
			l.commit(w, []*request{r})
		}
		return
	} else if err != nil && !refused {
		l.log.Error("the ledger cannot be written", "err", err)
	}
	if err == nil {
		l.last.Store(w.chain.head.seq)
		l.bus.Ring(w.chain.head.seq)
	}
	for _, r := range rs {
		r.done <- failure(err)
	}
}

// A writer is the one connection that writes. Only the writer's goroutine uses it.
type writer struct {
	db   *sql.DB
	now  func() time.Time
	keep int64

	conn   *sql.Conn // nil after an error
	insert *sql.Stmt
	chain  chain // as it is on the disk
}

// transact writes rs in one transaction, or nothing.
func (w *writer) transact(rs []*request) (err error) {
	// No caller's context: others wait for the same transaction. The busy
	// timeout bounds it, and beyond that the disk alone does.
	ctx := context.Background()
	if err := w.connect(ctx); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			// To close the connection rolls back in every state that it may be in.
			w.drop()
		}
	}()
	if _, err := w.conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	next := w.chain
	for _, r := range rs {
		if r.change != nil {
			changed, err := r.change(ctx, w.conn)
			if err != nil {
				return err
			}
			if !changed {
				continue
			}
		}
		for _, row := range r.rows {
			row.seq, row.at = next.head.seq+1, w.now().UnixNano()
			next.head = link{row.seq, row.hash(next.head.hash)}
			_, err := w.insert.ExecContext(ctx, row.seq, row.at, row.category, row.subject, row.agent, row.call,
				row.data, next.head.hash[:])
			if err != nil {
				return err
			}
		}
	}
	if next.head.seq != w.chain.head.seq {
		if err := w.advance(ctx, &next); err != nil {
			return err
		}
	}
	if _, err := w.conn.ExecContext(ctx, `COMMIT`); err != nil {
		return err
	}
	w.chain = next
	return nil
}

// advance prunes what is over the bound and writes the ends of the chain.
func (w *writer) advance(ctx context.Context, next *chain) error {
	if next.head.seq-next.anchor.seq > w.keep {
		if err := w.prune(ctx, next); err != nil {
			return err
		}
	}
	_, err := w.conn.ExecContext(ctx, `UPDATE chain SET anchor_seq = ?, anchor_hash = ?, head_seq = ?, head_hash = ?`,
		next.anchor.seq, next.anchor.hash[:], next.head.seq, next.head.hash[:])
	return err
}

func (w *writer) prune(ctx context.Context, next *chain) error {
	// Some more than needed, so that not every append has to prune.
	last := next.head.seq - w.keep + min(w.keep/10, 256)
	anchor, hash := int64(0), []byte(nil)
	err := w.conn.QueryRowContext(ctx, `SELECT seq, hash FROM event WHERE seq <= ? ORDER BY seq DESC LIMIT 1`, last).
		Scan(&anchor, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // somebody else has taken them; the anchor stays, so Verify misses them
	} else if err != nil {
		return err
	}
	next.anchor.seq = anchor
	copy(next.anchor.hash[:], hash)
	return exec(ctx, w.conn, `DELETE FROM event WHERE seq <= ?`, anchor)
}

func (w *writer) connect(ctx context.Context) (err error) {
	if w.conn != nil {
		return nil
	}
	if w.conn, err = w.db.Conn(ctx); err != nil {
		w.conn = nil
		return err
	}
	if w.insert, err = w.conn.PrepareContext(ctx, `INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?)`); err != nil {
		w.drop()
		return err
	}
	return nil
}

// drop closes the connection itself, not only our hold of it in the pool.
func (w *writer) drop() {
	if w.conn == nil {
		return
	}
	if w.insert != nil {
		_ = w.insert.Close() // or SQLite keeps the connection, and its lock, for it
	}
	_ = w.conn.Raw(func(any) error { return driver.ErrBadConn }) // that is how it is asked for
	_ = w.conn.Close()
	w.conn, w.insert = nil, nil
}

// skipForeign makes the next row come after every row that is there, even one
// that somebody else has put behind the end of the chain: it stays for Verify
// to find, and does not stand in the way.
func (w *writer) skipForeign(ctx context.Context, log *slog.Logger) error {
	var newest int64
	if err := w.db.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM event`).Scan(&newest); err != nil {
		return err
	}
	if newest > w.chain.head.seq {
		log.Warn("the ledger has rows that Chaperone did not write", "after", w.chain.head.seq)
		w.chain.head.seq = newest
	}
	return nil
}
