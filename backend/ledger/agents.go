package ledger

import (
	"context"
	"database/sql"
	"time"

	"chaperone/backend/agent"
	"chaperone/backend/event"
	"chaperone/backend/ids"
)

// maxAgents is how many agents are remembered.
const maxAgents = 1000

// PutAgent keeps a, in the place of an earlier row for the same agent, with the
// drafts that tell of it. The newest 1,000 are kept, and those without a name
// of their own go first.
func (l *Ledger) PutAgent(ctx context.Context, a agent.Record, drafts ...event.Draft) error {
	return l.write(ctx, func(ctx context.Context, c *sql.Conn) (bool, error) {
		err := exec(ctx, c, `INSERT OR REPLACE INTO agent VALUES (?, ?, ?, ?)`,
			string(a.Agent), string(a.Session), a.Named, a.CreatedAt.UnixNano())
		if err != nil {
			return false, err
		}
		var n int
		if err := c.QueryRowContext(ctx, `SELECT count(*) FROM agent`).Scan(&n); err != nil || n <= maxAgents {
			return true, err
		}
		return true, exec(ctx, c, `DELETE FROM agent WHERE agent =
			(SELECT agent FROM agent WHERE agent <> ? ORDER BY named, created_at LIMIT 1)`, string(a.Agent))
	}, drafts)
}

// AgentRows returns the agents, oldest first.
func (l *Ledger) AgentRows(ctx context.Context) ([]agent.Record, error) {
	return list(ctx, l, record, `SELECT agent, session, named, created_at FROM agent ORDER BY created_at, agent`)
}

// Agent returns what is remembered of the agent name, and whether anything is.
func (l *Ledger) Agent(ctx context.Context, name ids.Agent) (agent.Record, bool, error) {
	found, err := list(ctx, l, record, `SELECT agent, session, named, created_at FROM agent WHERE agent = ?`, string(name))
	if err != nil || len(found) == 0 {
		return agent.Record{}, false, err
	}
	return found[0], true, nil
}

func record(rows *sql.Rows) (r agent.Record, err error) {
	var at int64
	err = rows.Scan(&r.Agent, &r.Session, &r.Named, &at)
	r.CreatedAt = time.Unix(0, at).UTC()
	return r, err
}
