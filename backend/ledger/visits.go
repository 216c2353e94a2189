package ledger

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"chaperone/backend/browser"
	"chaperone/backend/event"
)

// Bounds of the history. A longer address or title is cut.
const (
	maxVisits = 1000
	maxURL    = 8 << 10
	maxTitle  = 512
)

// AddVisit keeps v under a new ID, with the drafts that tell of it. The newest
// 1,000 visits are kept.
func (l *Ledger) AddVisit(ctx context.Context, v browser.Visit, drafts ...event.Draft) error {
	return l.write(ctx, func(ctx context.Context, c *sql.Conn) (bool, error) {
		err := exec(ctx, c, `INSERT INTO visit (at, agent, url, title) VALUES (?, ?, ?, ?)`,
			v.At.UnixNano(), string(v.Agent), cut(v.URL, maxURL), cut(v.Title, maxTitle))
		if err != nil {
			return false, err
		}
		return true, exec(ctx, c, `DELETE FROM visit WHERE id <= (SELECT id FROM visit ORDER BY id DESC LIMIT 1 OFFSET ?)`,
			maxVisits)
	}, drafts)
}

// Visits returns visits, newest first, and whether there are older ones that q chooses.
func (l *Ledger) Visits(ctx context.Context, q browser.VisitQuery) (visits []browser.Visit, more bool, err error) {
	if q.Limit == 0 {
		q.Limit = 100
	}
	limit := bound(q.Limit, maxVisits)
	literal := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(q.Text)
	visits, err = list(ctx, l, func(rows *sql.Rows) (v browser.Visit, err error) {
		var at int64
		err = rows.Scan(&v.ID, &at, &v.Agent, &v.URL, &v.Title)
		v.At = time.Unix(0, at).UTC()
		return v, err
	}, `SELECT id, at, agent, url, title FROM visit
		WHERE (?1 = 0 OR id < ?1) AND (url LIKE ?2 ESCAPE '\' OR title LIKE ?2 ESCAPE '\')
		ORDER BY id DESC LIMIT ?3`, q.Before, "%"+literal+"%", limit+1)
	if len(visits) > limit {
		return visits[:limit], true, err
	}
	return visits, false, err
}

// RemoveVisit removes a visit, with the drafts that tell of it, and returns
// whether there was one; if not, nothing is written.
func (l *Ledger) RemoveVisit(ctx context.Context, id int64, drafts ...event.Draft) (bool, error) {
	n, err := l.remove(ctx, drafts, `DELETE FROM visit WHERE id = ?`, id)
	return n > 0, err
}

// ClearVisits removes all visits, with the drafts that tell of it, and returns
// how many there were; if there was none, nothing is written.
func (l *Ledger) ClearVisits(ctx context.Context, drafts ...event.Draft) (int, error) {
	n, err := l.remove(ctx, drafts, `DELETE FROM visit`)
	return int(n), err
}
