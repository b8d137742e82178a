-- The file as a whole.

-- name: begin
BEGIN IMMEDIATE;

-- name: begin_read
BEGIN;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;

-- name: application_id
PRAGMA application_id;

-- name: user_version
PRAGMA user_version;

-- name: table_count
SELECT count(*) FROM sqlite_schema;

-- name: data_version
PRAGMA data_version;

-- name: setting_get
SELECT value FROM setting WHERE name = ?1;

-- name: setting_put
INSERT INTO setting (name, value) VALUES (?1, ?2)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: setting_lower
UPDATE setting SET value = ?2 WHERE name = ?1 AND value = ?3;

-- name: name_find
SELECT id FROM name WHERE text = ?1;

-- name: name_insert
INSERT INTO name (text) VALUES (?1);

-- name: name_text
SELECT text FROM name WHERE id = ?1;

-- Opening. What holds for a connection:

-- name: journal_mode
PRAGMA journal_mode;

-- A file is brought to WAL without a rollback journal beside it: there is nothing to lose in a new
-- file, and one with a hot journal could not be told from a stranger's without changing it.

-- name: journal_memory
PRAGMA journal_mode = MEMORY;

-- name: journal_wal
PRAGMA journal_mode = WAL;

-- name: synchronous_full
PRAGMA synchronous = FULL;

-- name: synchronous_normal
PRAGMA synchronous = NORMAL;

-- name: checkpoint_pages
PRAGMA wal_autocheckpoint = 1000;

-- A log that grew in a large transaction is cut to that many bytes afterwards.

-- name: log_limit
PRAGMA journal_size_limit = 16777216;

-- name: cache_size
PRAGMA cache_size = -8192;

-- name: untrusted_schema
PRAGMA trusted_schema = OFF;

-- name: quick_check
PRAGMA quick_check(1);

-- name: backup
VACUUM INTO ?1;

-- name: vacuum
VACUUM;

-- name: truncate_log
PRAGMA wal_checkpoint(TRUNCATE);

-- name: page_count
PRAGMA page_count;

-- name: page_size
PRAGMA page_size;
