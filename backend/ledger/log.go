package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"chaperone/backend/event"
	"chaperone/backend/fault"
	"chaperone/backend/ids"
)

// Bounds of a row. A longer field is cut. Data that is longer loses the rest of
// each text in it after longText bytes; if that is not enough, its length
// and digest stand in its place. So nothing that a page or an agent makes long
// keeps a row from being written.
const (
	maxField = 1 << 10
	maxData  = 16 << 10
	longText = 1 << 10
)

var errNotObject = errors.New("they are not a JSON object")

// page is how many events a reader gets at most in one call.
const page = 1000

// Append implements event.Log.
func (l *Ledger) Append(ctx context.Context, drafts ...event.Draft) error {
	if len(drafts) == 0 {
		return nil
	}
	return l.write(ctx, nil, drafts)
}

// Last implements event.Log.
func (l *Ledger) Last(context.Context) (int64, error) { return l.last.Load(), nil }

// After implements event.Log. limit is at most 1,000, which 0 means too. When
// rows after seq were pruned, it begins with the oldest that is left.
func (l *Ledger) After(ctx context.Context, seq int64, limit int) ([]event.Event, error) {
	return l.query(ctx, `SELECT `+columns+` FROM event WHERE seq > ? ORDER BY seq LIMIT ?`, seq, bound(limit, page))
}

// Events returns rows of the log, newest first, and whether there are older
// ones that q chooses.
func (l *Ledger) Events(ctx context.Context, q event.Query) (events []event.Event, more bool, err error) {
	where, args := []string{`TRUE`}, []any{}
	and := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if q.Before > 0 {
		and(`seq < ?`, q.Before)
	}
	if q.Prefix != "" {
		whole := strings.TrimSuffix(q.Prefix, ".")
		and(`(category = ? OR (category >= ? AND category < ?))`, q.Prefix, whole+".", whole+"/") // "/" follows "."
	}
	if q.Subject != "" {
		and(`subject = ?`, q.Subject)
	}
	if q.Agent != "" {
		and(`agent = ?`, string(q.Agent))
	}
	if q.Limit == 0 {
		q.Limit = 100
	}
	limit := bound(q.Limit, page)
	events, err = l.query(ctx, `SELECT `+columns+` FROM event WHERE `+strings.Join(where, ` AND `)+
		` ORDER BY seq DESC LIMIT ?`, append(args, limit+1)...)
	if len(events) > limit {
		return events[:limit], true, err
	}
	return events, false, err
}

func (l *Ledger) query(ctx context.Context, query string, args ...any) ([]event.Event, error) {
	return list(ctx, l, func(rows *sql.Rows) (event.Event, error) {
		r, hash, err := scan(rows)
		e := event.Event{
			Seq: r.seq, At: time.Unix(0, r.at).UTC(), Category: r.category, Subject: r.subject,
			Agent: ids.Agent(r.agent), Call: ids.Call(r.call), Hash: hex.EncodeToString(hash[:]),
		}
		if r.data != "" {
			e.Data = json.RawMessage(r.data)
		}
		return e, err
	}, query, args...)
}

// columns are those of event, in the order that scan reads them.
const columns = `seq, at, category, subject, agent, call, data, hash`

func scan(rows *sql.Rows) (r row, hash [sha256.Size]byte, err error) {
	var h []byte
	err = rows.Scan(&r.seq, &r.at, &r.category, &r.subject, &r.agent, &r.call, &r.data, &h)
	if len(h) == len(hash) { // else it stays zero, which no row has
		copy(hash[:], h)
	}
	return r, hash, err
}

// list returns what one reads from each row that query finds.
func list[T any](ctx context.Context, l *Ledger, one func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	rows, err := l.readers.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, l.unreadable(ctx, err)
	}
	defer rows.Close()
	all := []T{}
	for rows.Next() {
		x, err := one(rows)
		if err != nil {
			return nil, l.unreadable(ctx, err)
		}
		all = append(all, x)
	}
	if err := rows.Err(); err != nil {
		return nil, l.unreadable(ctx, err)
	}
	return all, nil
}

// bound returns limit, or most if limit is none or too much.
func bound(limit, most int) int {
	if limit <= 0 || limit > most {
		return most
	}
	return limit
}

func encode(drafts []event.Draft) ([]row, error) {
	rows := make([]row, len(drafts))
	for i, d := range drafts {
		data, err := encodeData(d.Data)
		if err != nil {
			return nil, fault.New(fault.Internal, "the particulars of %s cannot be recorded: %w", d.Category, err).
				WithEffect(fault.EffectNone)
		}
		rows[i] = row{
			category: cut(d.Category, maxField), subject: cut(d.Subject, maxField),
			agent: cut(string(d.Agent), maxField), call: cut(string(d.Call), maxField), data: data,
		}
	}
	return rows, nil
}

// encodeData returns v as a JSON object within maxData, or "" for none.
func encodeData(v any) (string, error) {
	if v == nil {
		return "", nil
	}
	b, err := json.Marshal(v)
	if err != nil || string(b) == "null" {
		return "", err
	}
	if b[0] != '{' {
		return "", errNotObject
	}
	b = bytes.ToValidUTF8(b, []byte("\uFFFD")) // a json.RawMessage may be anything
	if len(b) <= maxData {
		return string(b), nil
	}
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&object); err != nil {
		return "", err
	}
	short, err := json.Marshal(shorten(object))
	if err != nil {
		return "", err
	}
	if len(short) > maxData {
		digest := sha256.Sum256(b)
		short, err = json.Marshal(map[string]any{"omittedBytes": len(b), "sha256": hex.EncodeToString(digest[:])})
	}
	return string(short), err
}

// shorten cuts every long text in a decoded JSON value.
func shorten(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) > longText {
			return cut(v, longText) + "…"
		}
	case []any:
		for i := range v {
			v[i] = shorten(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = shorten(v[k])
		}
	}
	return v
}

// cut returns at most n bytes of s, whole characters of valid UTF-8.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
