-- The outbox's own rows; reading it stands in row.sql.

-- name: outbox_insert
INSERT INTO outbox (id, a, b, c, d, e, f) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: outbox_remove
DELETE FROM outbox WHERE id = ?1;

-- The last number of a range.
-- name: outbox_last
SELECT max(id) FROM outbox WHERE id > ?1 AND id < ?2;

-- Dead letters.

-- name: rejected_insert
INSERT INTO rejected (code, reason, at_ms, scope, key, fields, extra)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: rejected_get
SELECT id, code, reason, at_ms, scope, key, fields, extra FROM rejected WHERE id = ?1;

-- name: rejected_after
SELECT id, code, reason, at_ms, scope, key, fields, extra FROM rejected WHERE id > ?1
    ORDER BY id LIMIT ?2;

-- name: rejected_before
SELECT id, code, reason, at_ms, scope, key, fields, extra FROM rejected WHERE id < ?1
    ORDER BY id DESC LIMIT ?2;

-- name: rejected_remove
DELETE FROM rejected WHERE id = ?1;

-- name: rejected_has
SELECT 1 FROM rejected WHERE scope = ?1 AND key = ?2 LIMIT 1;
