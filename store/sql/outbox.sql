-- Dead letters. What waits in the outbox stands in row.sql.

-- name: rejected_insert
INSERT INTO rejected (code, reason, at_ms, scope, key, fields) VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: rejected_get
SELECT id, code, reason, at_ms, scope, key, fields FROM rejected WHERE id = ?1;

-- name: rejected_after
SELECT id, code, reason, at_ms, scope, key, fields FROM rejected WHERE id > ?1
    ORDER BY id LIMIT ?2;

-- name: rejected_before
SELECT id, code, reason, at_ms, scope, key, fields FROM rejected WHERE id < ?1
    ORDER BY id DESC LIMIT ?2;

-- name: rejected_remove
DELETE FROM rejected WHERE id = ?1;

-- name: rejected_has
SELECT 1 FROM rejected WHERE scope = ?1 AND key = ?2 LIMIT 1;
