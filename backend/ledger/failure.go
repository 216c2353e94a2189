package ledger

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"chaperone/backend/fault"
)

// failure puts an error of SQLite or of the file system in plain words. A
// *fault.Error stays as it is.
func failure(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	message, hint := "the record of what happens cannot be written", "Chaperone's log has the details."
	switch code := primary(err); {
	case code == lib.SQLITE_FULL, errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		message, hint = "the disk is full, so what happens cannot be recorded", "Free some space and try again."
	case damaged(err):
		message, hint = "the record of what happens is damaged",
			"Start Chaperone again: it keeps the damaged file and begins a new one."
	case code == lib.SQLITE_IOERR:
		message, hint = "the disk is full or cannot be written, so what happens cannot be recorded",
			"Look after the disk's free space and health, and try again."
	case code == lib.SQLITE_BUSY, code == lib.SQLITE_LOCKED:
		message, hint = "another program holds the record of what happens", "Close that program and try again."
	case code == lib.SQLITE_READONLY, code == lib.SQLITE_CANTOPEN, code == lib.SQLITE_PERM,
		errors.Is(err, fs.ErrPermission):
		message, hint = "the record of what happens may not be written here",
			"Look after the owner and mode of Chaperone's data directory."
	}
	return fault.New(fault.LedgerUnavailable, "%s", message).WithHint(hint).WithEffect(fault.EffectNone).Because(err)
}

// primary returns SQLite's primary result code, or 0.
func primary(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

func damaged(err error) bool {
	code := primary(err)
	return errors.Is(err, errDamaged) || code == lib.SQLITE_CORRUPT || code == lib.SQLITE_NOTADB
}

// ended is the error of a caller whose context ended before anything was done.
func ended(ctx context.Context) error {
	return fault.From(ctx.Err()).WithEffect(fault.EffectNone)
}

// unreadable is the error of a read.
func (l *Ledger) unreadable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	select {
	case <-l.closing:
		return isClosed()
	default:
	}
	l.log.Error("the ledger cannot be read", "err", err)
	if damaged(err) || errors.Is(err, sql.ErrNoRows) {
		return failure(errors.Join(errDamaged, err))
	}
	return fault.New(fault.LedgerUnavailable, "the record of what happened cannot be read").
		WithHint("Chaperone's log has the details.").Because(err)
}

func isClosed() error {
	return fault.New(fault.LedgerUnavailable, "Chaperone is closing and records nothing more").
		WithEffect(fault.EffectNone)
}
