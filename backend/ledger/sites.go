package ledger

import (
	"context"
	"database/sql"
	"time"

	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/policy"
)

// maxSites is how many origins can have a rule of their own.
const maxSites = 500

// Sites returns the person's rules, by origin.
func (l *Ledger) Sites(ctx context.Context) ([]policy.Site, error) {
	return list(ctx, l, func(rows *sql.Rows) (s policy.Site, err error) {
		var at int64
		err = rows.Scan(&s.Origin, &s.Access, &at)
		s.At = time.Unix(0, at).UTC()
		return s, err
	}, `SELECT origin, access, at FROM site ORDER BY origin`)
}

// PutSite keeps a rule, in the place of an earlier one for the same origin,
// with the drafts that tell of it. At most 500 origins have one: beyond that
// the error is Busy.
func (l *Ledger) PutSite(ctx context.Context, s policy.Site, drafts ...event.Draft) error {
	return l.write(ctx, func(ctx context.Context, c *sql.Conn) (bool, error) {
		var others int
		err := c.QueryRowContext(ctx, `SELECT count(*) FROM site WHERE origin <> ?`, string(s.Origin)).Scan(&others)
		if err != nil {
			return false, err
		}
		if others >= maxSites {
			return false, fault.New(fault.Busy, "%d sites have a rule of their own, and there is room for no more", maxSites).
				WithHint("Remove a site's rule in the settings first.").WithEffect(fault.EffectNone)
		}
		return true, exec(ctx, c, `INSERT OR REPLACE INTO site VALUES (?, ?, ?)`,
			string(s.Origin), string(s.Access), s.At.UnixNano())
	}, drafts)
}

// RemoveSite removes the rule of an origin, with the drafts that tell of it, and
// returns whether there was one; if not, nothing is written.
func (l *Ledger) RemoveSite(ctx context.Context, o policy.Origin, drafts ...event.Draft) (bool, error) {
	n, err := l.remove(ctx, drafts, `DELETE FROM site WHERE origin = ?`, string(o))
	return n > 0, err
}

// remove runs a DELETE with the drafts that tell of it, and returns how many rows went.
func (l *Ledger) remove(ctx context.Context, drafts []event.Draft, query string, args ...any) (n int64, err error) {
	err = l.write(ctx, func(ctx context.Context, c *sql.Conn) (bool, error) {
		n, err = affected(ctx, c, query, args...)
		return n > 0, err
	}, drafts)
	if err != nil {
		return 0, err
	}
	return n, nil
}
