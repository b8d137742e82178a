-- What derives from the graph and from lists, kept up to date by derive.c and recomputed by
-- recompute.c.

-- name: origin_add
INSERT OR IGNORE INTO origin (user, origin) VALUES (?1, ?2)

-- name: origin_remove
DELETE FROM origin WHERE user = ?1 AND origin = ?2

-- name: origin_any
SELECT EXISTS (SELECT 1 FROM origin WHERE user = ?1)

-- A group, the owner's number, his id; whether the group counts now and whether it should.
-- name: group_grants
SELECT g.granted,
       g.deleted IS NOT 1
       AND EXISTS (SELECT 1 FROM follow f WHERE f.kind = 1 AND f.target = g.grp
                   AND f.present IS NOT 0)
       AND (g.joining IS NOT 'closed' OR g.owner IS ?3
            OR EXISTS (SELECT 1 FROM member m WHERE m.grp = g.grp AND m.user = ?2
                       AND m.present IS NOT 0))
FROM grp g WHERE g.grp = ?1

-- name: group_granted_set
UPDATE grp SET granted = ?2 WHERE grp = ?1

-- Whether a group counts, and whether a user has any origin.
-- name: group_granted
SELECT granted, EXISTS (SELECT 1 FROM origin WHERE user = ?2) FROM grp WHERE grp = ?1

-- Members, but the owner, without any origin.
-- name: group_unseen
SELECT count(*) FROM member m
WHERE m.grp = ?1 AND m.present IS NOT 0 AND m.user <> ?2
      AND NOT EXISTS (SELECT 1 FROM origin o WHERE o.user = m.user)

-- name: group_origins_add
INSERT OR IGNORE INTO origin (user, origin)
SELECT m.user, m.grp FROM member m
WHERE m.grp = ?1 AND m.present IS NOT 0 AND m.user <> ?2

-- name: group_origins_remove
DELETE FROM origin WHERE origin = ?1 AND user IN (SELECT user FROM member WHERE grp = ?1)

-- name: subscriptions_count_add
INSERT INTO setting (name, value) VALUES ('subscriptions', ?1)
ON CONFLICT (name) DO UPDATE SET value = value + excluded.value

-- name: list_items_add
UPDATE list SET items = items + ?2 WHERE list = ?1

-- A list that has just come: items may have come before it.
-- name: list_items_count
UPDATE list SET items = (SELECT count(*) FROM item i
                         WHERE i.list = list.list AND i.present IS NOT 0)
WHERE list = ?1

-- ---- The recompute.

-- name: recompute_groups
SELECT grp FROM grp WHERE grp > ?1 ORDER BY grp LIMIT 1

-- Every origin that should be; ?1: the owner's number. Sorted, so that many go in quickly.
-- name: recompute_origins_add
INSERT OR IGNORE INTO origin (user, origin)
SELECT f.target AS user, 0 AS origin FROM follow f
WHERE f.kind = 0 AND f.present IS NOT 0 AND f.target <> ?1
UNION ALL
SELECT m.user, m.grp FROM grp g CROSS JOIN member m ON m.grp = g.grp
WHERE g.granted AND m.present IS NOT 0 AND m.user <> ?1
ORDER BY 1, 2

-- How many origins there are beyond those that should be, once none is missing.
-- name: recompute_origins_over
SELECT (SELECT count(*) FROM origin)
       - (SELECT count(*) FROM follow f
          WHERE f.kind = 0 AND f.present IS NOT 0 AND f.target <> ?1)
       - (SELECT count(*) FROM grp g CROSS JOIN member m ON m.grp = g.grp
          WHERE g.granted AND m.present IS NOT 0 AND m.user <> ?1)

-- name: recompute_origins_remove
DELETE FROM origin WHERE user = ?1
    OR CASE origin
       WHEN 0 THEN NOT EXISTS (SELECT 1 FROM follow f WHERE f.kind = 0 AND f.target = origin.user
                               AND f.present IS NOT 0)
       ELSE NOT EXISTS (SELECT 1 FROM grp g JOIN member m ON m.grp = g.grp
                        WHERE g.grp = origin.origin AND g.granted AND m.user = origin.user
                        AND m.present IS NOT 0)
       END

-- name: recompute_subscriptions_count
INSERT INTO setting (name, value)
SELECT 'subscriptions', c.users
FROM (SELECT count(*) AS users FROM (SELECT DISTINCT user FROM origin)) AS c
WHERE c.users <> ifnull((SELECT s.value FROM setting s WHERE s.name = 'subscriptions'), 0)
ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: recompute_list_counts
UPDATE list SET items = c.items
FROM (SELECT l.list AS list, (SELECT count(*) FROM item i
                              WHERE i.list = l.list AND i.present IS NOT 0) AS items
      FROM list l) AS c
WHERE c.list = list.list AND c.items <> list.items

-- name: recompute_start
SAVEPOINT recompute

-- name: recompute_undo
ROLLBACK TO recompute

-- name: recompute_end
RELEASE recompute

-- name: origins_clear
DELETE FROM origin

-- name: subscriptions_count_clear
DELETE FROM setting WHERE name = 'subscriptions'
