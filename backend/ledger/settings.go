package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"chaperone/backend/event"
	"chaperone/backend/setting"
)

// Settings returns what the person chose; what is missing or unknown is the default.
func (l *Ledger) Settings(ctx context.Context) (setting.Settings, error) {
	s := setting.Default()
	var value []byte
	err := l.readers.QueryRowContext(ctx, `SELECT value FROM setting`).Scan(&value)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return s, nil
	case err != nil:
		return s, l.unreadable(ctx, err)
	}
	if err := json.Unmarshal(value, &s); err != nil {
		l.log.Warn("a setting is unknown and counts as the default", "err", err)
	}
	return s.Sane(), nil
}

// SaveSettings keeps s, with the drafts that tell of it.
func (l *Ledger) SaveSettings(ctx context.Context, s setting.Settings, drafts ...event.Draft) error {
	value, err := json.Marshal(s.Sane())
	if err != nil {
		return failure(err)
	}
	return l.write(ctx, func(ctx context.Context, c *sql.Conn) (bool, error) {
		return true, exec(ctx, c, `INSERT OR REPLACE INTO setting VALUES (1, ?)`, string(value))
	}, drafts)
}

func exec(ctx context.Context, c *sql.Conn, query string, args ...any) error {
	_, err := c.ExecContext(ctx, query, args...)
	return err
}

// affected is exec with the number of rows that it changed.
func affected(ctx context.Context, c *sql.Conn, query string, args ...any) (int64, error) {
	result, err := c.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
