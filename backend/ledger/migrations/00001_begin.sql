-- +goose Up

-- What happened, one row each. hash chains a row to the one before it (chain.go).
CREATE TABLE event (
	seq      INTEGER PRIMARY KEY,
	at       INTEGER NOT NULL, -- nanoseconds since 1970, UTC
	category TEXT NOT NULL,
	subject  TEXT NOT NULL,
	agent    TEXT NOT NULL,
	call     TEXT NOT NULL,
	data     TEXT NOT NULL, -- a JSON object, or empty
	hash     BLOB NOT NULL
) STRICT;

-- The ends of the chain: the last row that was pruned, and the newest.
CREATE TABLE chain (
	id          INTEGER PRIMARY KEY CHECK (id = 1),
	anchor_seq  INTEGER NOT NULL,
	anchor_hash BLOB NOT NULL,
	head_seq    INTEGER NOT NULL,
	head_hash   BLOB NOT NULL
) STRICT;
INSERT INTO chain VALUES (1, 0, zeroblob(32), 0, zeroblob(32));

CREATE TABLE setting (
	id    INTEGER PRIMARY KEY CHECK (id = 1),
	value TEXT NOT NULL -- JSON
) STRICT;

CREATE TABLE site (
	origin TEXT PRIMARY KEY,
	access TEXT NOT NULL,
	at     INTEGER NOT NULL
) STRICT;

CREATE TABLE visit (
	id    INTEGER PRIMARY KEY AUTOINCREMENT,
	at    INTEGER NOT NULL,
	agent TEXT NOT NULL,
	url   TEXT NOT NULL,
	title TEXT NOT NULL
) STRICT;

CREATE TABLE agent (
	agent      TEXT PRIMARY KEY,
	session    TEXT NOT NULL,
	named      INTEGER NOT NULL,
	created_at INTEGER NOT NULL
) STRICT;
