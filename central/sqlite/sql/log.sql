-- The log. ?1 is the scope's id.

-- name: log_last
SELECT seq, salt FROM changes WHERE scope = ?1 ORDER BY seq DESC LIMIT 1;

-- name: log_salt
SELECT salt FROM changes WHERE scope = ?1 AND seq = ?2;

-- The index is named, since the primary key gives the order too, by way of the whole scope.
-- name: log_current
SELECT seq, salt, at, key, fields, extras FROM changes INDEXED BY changes_by_key
 WHERE scope = ?1 AND key = ?2 ORDER BY seq DESC LIMIT 1;

-- name: log_after
SELECT seq, salt, at, key, fields, extras FROM changes
 WHERE scope = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3;

-- Insert if absent: changes() says whether it went in.
-- name: log_insert
INSERT OR IGNORE INTO changes (scope, seq, salt, at, gone, key, fields, extras)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);

-- Keys before ?2, behind the place (?3, ?4).
-- name: log_walk
SELECT key, seq, at, gone FROM changes INDEXED BY changes_by_key
 WHERE scope = ?1 AND key < ?2 AND (key, seq) > (?3, ?4)
 ORDER BY key, seq LIMIT ?5;

-- name: log_drop
DELETE FROM changes WHERE scope = ?1 AND seq = ?2;
