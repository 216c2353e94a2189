package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"chaperone/backend/event"
)

// The hash of a row is SHA-256 over these, one after another:
//
//	the hash of the row before (32 bytes; zeroes for the first row)
//	seq and at                 (8 bytes each, big endian)
//	category, subject, agent, call, data, each as
//	    its length in bytes    (8 bytes, big endian)
//	    its bytes              (UTF-8)
//
// Every field has a fixed length or says its own, so no two rows have the same
// encoding. Pruning keeps the hash of the last row that went, the anchor, from
// which the rest can still be proved; the head says which row is the newest, so
// that one that was taken off the end is missed.
//
// There is no secret in it. Who can write the file and knows this comment can
// make a whole new chain; a copy of a row's hash that was kept elsewhere, in an
// export for instance, then gives it away.

// A link is a row's place and hash.
type link struct {
	seq  int64
	hash [sha256.Size]byte
}

// A chain is its two ends: the link before the oldest row, and the newest.
type chain struct{ anchor, head link }

// A row is a row of the log without its hash.
type row struct {
	seq, at                              int64
	category, subject, agent, call, data string
}

func (r row) hash(before [sha256.Size]byte) [sha256.Size]byte {
	b := make([]byte, 0, len(before)+7*8+len(r.category)+len(r.subject)+len(r.agent)+len(r.call)+len(r.data))
	b = append(b, before[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.seq))
	b = binary.BigEndian.AppendUint64(b, uint64(r.at))
	for _, s := range []string{r.category, r.subject, r.agent, r.call, r.data} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(s)))
		b = append(b, s...)
	}
	return sha256.Sum256(b)
}

// querier is a *sql.DB or a *sql.Tx.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func readChain(ctx context.Context, q querier) (chain, error) {
	var c chain
	var anchor, head []byte
	err := q.QueryRowContext(ctx, `SELECT anchor_seq, anchor_hash, head_seq, head_hash FROM chain WHERE id = 1`).
		Scan(&c.anchor.seq, &anchor, &c.head.seq, &head)
	if errors.Is(err, sql.ErrNoRows) {
		return c, fmt.Errorf("%w: the ends of the chain are missing", errDamaged)
	}
	copy(c.anchor.hash[:], anchor)
	copy(c.head.hash[:], head)
	return c, err
}

func broken(v *event.Verification, seq int64, why string) {
	v.OK, v.BrokenAt, v.Why = false, seq, why
}

// Verify proves the log from its oldest row to its newest, as they are at the
// moment of the call. What it finds wrong is in the Verification; the error is
// that of a read which failed.
func (l *Ledger) Verify(ctx context.Context) (event.Verification, error) {
	v, err := l.verify(ctx)
	if err != nil {
		return event.Verification{}, l.unreadable(ctx, err)
	}
	return v, nil
}

func (l *Ledger) verify(ctx context.Context) (event.Verification, error) {
	// One transaction, so that the ends and the rows are of the same moment.
	tx, err := l.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return event.Verification{}, err
	}
	defer tx.Rollback() // it only reads
	ends, err := readChain(ctx, tx)
	if err != nil {
		return event.Verification{}, err
	}
	rows, err := tx.QueryContext(ctx, `SELECT `+columns+` FROM event ORDER BY seq`)
	if err != nil {
		return event.Verification{}, err
	}
	defer rows.Close()
	v, at := event.Verification{OK: true}, ends.anchor
	for rows.Next() {
		r, hash, err := scan(rows)
		if err != nil {
			return event.Verification{}, err
		}
		switch {
		case r.seq <= ends.anchor.seq:
			broken(&v, r.seq, fmt.Sprintf("row %d was added: the log begins after row %d", r.seq, ends.anchor.seq))
		case r.seq > ends.head.seq:
			broken(&v, r.seq, fmt.Sprintf("row %d was added: the log ends with row %d", r.seq, ends.head.seq))
		case r.seq != at.seq+1:
			broken(&v, at.seq+1, fmt.Sprintf("row %d is missing", at.seq+1))
		case r.hash(at.hash) != hash:
			broken(&v, r.seq, fmt.Sprintf("row %d is not as it was written", r.seq))
		}
		if !v.OK {
			return v, nil
		}
		if at = (link{r.seq, hash}); v.Rows == 0 {
			v.First = r.seq
		}
		v.Rows, v.Last = v.Rows+1, r.seq
	}
	if err := rows.Err(); err != nil {
		return event.Verification{}, err
	}
	switch {
	case at.seq != ends.head.seq:
		broken(&v, at.seq+1, fmt.Sprintf("row %d is missing", at.seq+1))
	case at.hash != ends.head.hash:
		broken(&v, at.seq, fmt.Sprintf("row %d is not the one that was written last", at.seq))
	}
	return v, nil
}
