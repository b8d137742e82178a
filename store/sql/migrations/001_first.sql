-- Schema 1.
--
-- Users, groups, lists and item types are interned in `name`; ids of items are not. Every typed
-- table has, in this order, its key columns, one column per field of the collection's descriptor
-- (base/schema.c), and
--   stamp    the newest stamp of those fields
--   stamps   NULL where every field has that stamp; else 8 bytes big-endian per field, 0 for a
--            field that the record does not have (a column that is NULL with a stamp is a null)
--   extra    fields that this version does not know (dln_extras_encode), NULL: none
--   seq      version held; 0: central never had it; -1: it had one before the epoch changed
--   place    its row in `outbox`; NULL: it is not there
--   pending  fields edited here and not yet settled, a bit each; 0: not in the outbox
--   offered  those of them that are there only because a rebuild offers them
--   tried    1: a request with it may have reached central, or central had it
--
-- A record without its existence field does not exist: it is a part of one. One without a rank has
-- '' in its column, and stands first.
--
-- A migration that adds a column to a typed table must write `stamps` into the rows that have none.

CREATE TABLE setting (
    name TEXT NOT NULL PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE name (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

-- kind: 0 a user, 1 a group.
CREATE TABLE follow (
    kind INTEGER NOT NULL,
    target INTEGER NOT NULL,
    present INTEGER,
    stamp INTEGER NOT NULL,
    stamps BLOB,
    extra BLOB,
    seq INTEGER NOT NULL,
    place INTEGER,
    pending INTEGER NOT NULL,
    offered INTEGER NOT NULL,
    tried INTEGER NOT NULL,
    PRIMARY KEY (kind, target)
) STRICT, WITHOUT ROWID;

CREATE TABLE mygroup (
    grp INTEGER NOT NULL,
    present INTEGER,
    role TEXT,
    stamp INTEGER NOT NULL,
    stamps BLOB,
    extra BLOB,
    seq INTEGER NOT NULL,
    place INTEGER,
    pending INTEGER NOT NULL,
    offered INTEGER NOT NULL,
    tried INTEGER NOT NULL,
    PRIMARY KEY (grp)
) STRICT, WITHOUT ROWID;

CREATE TABLE list (
    list INTEGER NOT NULL,
    name TEXT,
    rank TEXT NOT NULL,
    deleted INTEGER,
    stamp INTEGER NOT NULL,
    stamps BLOB,
    extra BLOB,
    seq INTEGER NOT NULL,
    place INTEGER,
    pending INTEGER NOT NULL,
    offered INTEGER NOT NULL,
    tried INTEGER NOT NULL,
    PRIMARY KEY (list)
) STRICT, WITHOUT ROWID;
CREATE INDEX list_order ON list (rank) WHERE deleted = 0;

-- The key's order answers "which lists hold it" too; ids stand first, since keys that differ in their
-- first column are compared fastest.
CREATE TABLE item (
    id TEXT NOT NULL,
    type INTEGER NOT NULL,
    list INTEGER NOT NULL,
    present INTEGER,
    created_at INTEGER,
    rank TEXT NOT NULL,
    title TEXT,
    data TEXT,
    attachments TEXT,
    stamp INTEGER NOT NULL,
    stamps BLOB,
    extra BLOB,
    seq INTEGER NOT NULL,
    place INTEGER,
    pending INTEGER NOT NULL,
    offered INTEGER NOT NULL,
    tried INTEGER NOT NULL,
    PRIMARY KEY (id, type, list)
) STRICT, WITHOUT ROWID;
CREATE INDEX item_order ON item (list, rank, id) WHERE present = 1;

-- granted: derived, whether the members of it are seen: the owner of this file follows it, it is
-- known and not deleted, and it is open to him.
CREATE TABLE grp (
    grp INTEGER NOT NULL,
    name TEXT,
    owner TEXT,
    joining TEXT,
    deleted INTEGER,
    stamp INTEGER NOT NULL,
    stamps BLOB,
    extra BLOB,
    seq INTEGER NOT NULL,
    place INTEGER,
    pending INTEGER NOT NULL,
    offered INTEGER NOT NULL,
    tried INTEGER NOT NULL,
    granted INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (grp)
) STRICT, WITHOUT ROWID;

CREATE TABLE member (
    grp INTEGER NOT NULL,
    user INTEGER NOT NULL,
    present INTEGER,
    role TEXT,
    stamp INTEGER NOT NULL,
    stamps BLOB,
    extra BLOB,
    seq INTEGER NOT NULL,
    place INTEGER,
    pending INTEGER NOT NULL,
    offered INTEGER NOT NULL,
    tried INTEGER NOT NULL,
    PRIMARY KEY (grp, user)
) STRICT, WITHOUT ROWID;

-- Collections that this version does not know; all their fields stand in extra. grp: 0 for the
-- owner's own scope, else the group whose scope it is. a, b, c: the key's parts, '' behind the last.
CREATE TABLE other (
    grp INTEGER NOT NULL,
    collection TEXT NOT NULL,
    a TEXT NOT NULL,
    b TEXT NOT NULL,
    c TEXT NOT NULL,
    parts INTEGER NOT NULL,
    stamp INTEGER NOT NULL,
    stamps BLOB,
    extra BLOB,
    seq INTEGER NOT NULL,
    place INTEGER,
    pending INTEGER NOT NULL,
    offered INTEGER NOT NULL,
    tried INTEGER NOT NULL,
    PRIMARY KEY (grp, collection, a, b, c, parts)
) STRICT, WITHOUT ROWID;

-- The outbox: keys (a to f: the key columns of the row's table) in the order in which they are sent, by
-- numbers that are given out in ranges (store/outbox.h); what is sent of a row stands in the row. What
-- was edited last is last in its range, so that an edit writes the end of this table. There, where it is
-- written anyway, stand the counts of the lists as well: id 2^62 + list, a: how many items of it are
-- present, whether or not it is known or deleted (derived).
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY,
    a ANY NOT NULL,
    b ANY,
    c ANY,
    d ANY,
    e ANY,
    f ANY
) STRICT;

-- Derived: why the owner sees a user. origin: 0 for '!', else the group.
CREATE TABLE origin (
    user INTEGER NOT NULL,
    origin INTEGER NOT NULL,
    PRIMARY KEY (user, origin)
) STRICT, WITHOUT ROWID;

-- What the device knows of a scope's log; a scope that it never read has no row.
CREATE TABLE scope (
    scope TEXT NOT NULL PRIMARY KEY,
    epoch TEXT,
    seq INTEGER NOT NULL,
    salt INTEGER NOT NULL,
    rebuilding INTEGER NOT NULL,
    offering INTEGER NOT NULL,
    held INTEGER NOT NULL,
    rebuild_since_ms INTEGER NOT NULL,
    complete_ms INTEGER NOT NULL,
    head INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Keys (dln_key_text) that central sent in the rebuild of a scope that is going on.
CREATE TABLE seen (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

-- Dead letters. fields, extra: the refused fields, those that this version knows and the others, both as
-- dln_extras_encode: what a letter says does not depend on the schema that reads it.
CREATE TABLE rejected (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    code INTEGER NOT NULL,
    reason TEXT,
    at_ms INTEGER NOT NULL,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    fields BLOB NOT NULL,
    extra BLOB NOT NULL
) STRICT;
CREATE INDEX rejected_key ON rejected (scope, key);

PRAGMA application_id = 1684827758;
PRAGMA user_version = 1;
