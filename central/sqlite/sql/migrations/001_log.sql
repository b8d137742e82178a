-- Central in one SQLite file: the log of record versions, and what is not a record.

-- head and touched are hints; floor: no tombstone at or below it is sure to be there still.
CREATE TABLE scopes (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    head INTEGER NOT NULL DEFAULT 0,
    touched INTEGER NOT NULL DEFAULT 0,
    floor INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX scopes_by_touched ON scopes (touched);

-- One version of one record. Its place is its identity: inserting it is inserting if absent.
-- fields: those that the descriptor table knew when it was written; extras: the others. Both hold
-- their names, so that a field may become known later. gone: the record says it does not exist.
CREATE TABLE changes (
    scope INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    salt INTEGER NOT NULL,
    at INTEGER NOT NULL,
    gone INTEGER NOT NULL,
    key TEXT NOT NULL,
    fields BLOB NOT NULL,
    extras BLOB NOT NULL,
    PRIMARY KEY (scope, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX changes_by_key ON changes (scope, key, seq);

CREATE TABLE epochs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL
) STRICT;

-- The last seq that a scope's history in an epoch shares with the epoch before.
CREATE TABLE bases (
    epoch INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (epoch, scope)
) STRICT, WITHOUT ROWID;

CREATE TABLE leases (
    name TEXT NOT NULL,
    number INTEGER NOT NULL,
    holder TEXT NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (name, number)
) STRICT, WITHOUT ROWID;
