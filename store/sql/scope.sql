-- Scopes, marks of a rebuild, and which scopes are synced.

-- name: scope_get
SELECT epoch, seq, salt, rebuilding, offering, held, rebuild_since_ms, complete_ms, head
    FROM scope WHERE scope = ?1;

-- name: scope_put
INSERT OR REPLACE INTO scope (scope, epoch, seq, salt, rebuilding, offering, held,
    rebuild_since_ms, complete_ms, head) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10);

-- name: scope_drop
DELETE FROM scope WHERE scope = ?1;

-- name: scope_held_count
SELECT count(*) FROM scope WHERE held;

-- name: seen_add
INSERT INTO seen (scope, key) VALUES (?1, ?2) ON CONFLICT DO NOTHING;

-- name: seen_has
SELECT 1 FROM seen WHERE scope = ?1 AND key = ?2;

-- name: seen_clear
DELETE FROM seen WHERE scope = ?1;

-- Of a group (?1), to the owner (?2 his id, ?3 its number): whether its scope is synced, and whether
-- he may in general write in it.

-- name: scope_rights
SELECT EXISTS (SELECT 1 FROM follow WHERE kind = 1 AND target = ?1 AND present = 1)
        OR EXISTS (SELECT 1 FROM mygroup WHERE grp = ?1 AND present = 1),
    EXISTS (SELECT 1 FROM grp WHERE grp = ?1 AND owner = ?2)
        OR EXISTS (SELECT 1 FROM member
            WHERE grp = ?1 AND user = ?3 AND present = 1 AND role = 'admin');

-- The groups whose scopes are synced, and those that the outbox has rows of (?3, ?4: the ranges of what
-- stands in groups), by id.

-- name: scope_groups
WITH groups (id) AS (
    SELECT target FROM follow WHERE kind = 1 AND present = 1
    UNION SELECT grp FROM mygroup WHERE present = 1
    UNION SELECT a FROM outbox WHERE id > ?3 AND id < ?4 AND a <> 0
)
SELECT name.text FROM groups CROSS JOIN name ON name.id = groups.id
    WHERE name.text > ?1 ORDER BY name.text LIMIT ?2;
