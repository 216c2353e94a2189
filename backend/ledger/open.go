package ledger

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"chaperone/backend/event"
	"chaperone/backend/fault"
)

//go:embed migrations/*.sql
var migrations embed.FS

// errDamaged marks a file whose contents are not a whole ledger.
var errDamaged = errors.New("the ledger file is damaged")

// readers is how many reads may run at once.
const readers = 4

func open(ctx context.Context, path string, bus *event.Bus, o Options) (_ *Ledger, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := create(path); err != nil {
		return nil, err
	}
	// FULL, not NORMAL: the row of an action is on the disk before the action happens.
	db, err := sql.Open("sqlite", dsn(path, url.Values{
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"},
	}))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	defer func() {
		if err != nil {
			_ = db.Close() // err says more
		}
	}()
	if err := check(ctx, db); err != nil {
		return nil, err
	}
	if err := migrate(ctx, db, path); err != nil {
		return nil, err
	}
	w := &writer{db: db, now: o.Now, keep: int64(o.Rows)}
	if w.chain, err = readChain(ctx, db); err != nil {
		return nil, err
	}
	if err := w.skipForeign(ctx, o.Log); err != nil {
		return nil, err
	}
	ro, err := sql.Open("sqlite", dsn(path, url.Values{
		"mode": {"ro"}, "_pragma": {"busy_timeout(5000)", "query_only(1)"},
	}))
	if err != nil {
		return nil, err
	}
	ro.SetMaxOpenConns(readers)
	ro.SetMaxIdleConns(readers)

	l := &Ledger{
		path: path, bus: bus, log: o.Log, readers: ro,
		requests: make(chan *request), closing: make(chan struct{}), closed: make(chan struct{}),
	}
	l.last.Store(w.chain.head.seq)
	bus.Ring(w.chain.head.seq)
	go l.serve(w)
	return l, nil
}

func dsn(path string, query url.Values) string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: query.Encode()}).String()
}

// create makes the file before SQLite does, for its mode, which SQLite's other files take over.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func check(ctx context.Context, db *sql.DB) error {
	var verdict string
	if err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", errDamaged, verdict)
	}
	return nil
}

func migrate(ctx context.Context, db *sql.DB, path string) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	current, newest, err := p.GetVersions(ctx)
	if err != nil {
		return err
	}
	if current > newest {
		return fault.New(fault.LedgerUnavailable, "%s was written by a newer version of Chaperone", path).
			WithHint("Install that version again or a later one, or move the file away to begin a new one.")
	}
	if current < newest {
		_, err = p.Up(ctx)
	}
	return err
}

// setAside renames the ledger's files and returns the new name of the first.
func setAside(path string, now time.Time) (string, error) {
	kept := path + ".corrupt-" + now.UTC().Format("20060102T150405.000000000Z")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(path+suffix, kept+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return kept, nil
}
