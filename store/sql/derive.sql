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
       g.deleted = 0
       AND EXISTS (SELECT 1 FROM follow f WHERE f.kind = 1 AND f.target = g.grp
                   AND f.present = 1)
       AND (g.joining IS NOT 'closed' OR g.owner IS ?3
            OR EXISTS (SELECT 1 FROM member m WHERE m.grp = g.grp AND m.user = ?2
                       AND m.present = 1))
FROM grp g WHERE g.grp = ?1

-- name: group_granted_set
UPDATE grp SET granted = ?2 WHERE grp = ?1

-- Whether a group counts, and whether a user has any origin.
-- name: group_granted
SELECT granted, EXISTS (SELECT 1 FROM origin WHERE user = ?2) FROM grp WHERE grp = ?1

-- Members, but the owner, without any origin.
-- name: group_unseen
SELECT count(*) FROM member m
WHERE m.grp = ?1 AND m.present = 1 AND m.user <> ?2
      AND NOT EXISTS (SELECT 1 FROM origin o WHERE o.user = m.user)

-- name: group_origins_add
INSERT OR IGNORE INTO origin (user, origin)
SELECT m.user, m.grp FROM member m
WHERE m.grp = ?1 AND m.present = 1 AND m.user <> ?2

-- name: group_origins_remove
DELETE FROM origin WHERE origin = ?1 AND user IN (SELECT user FROM member WHERE grp = ?1)

-- Counts (counts.c), see the schema; ?1: which, ?2: how many more.
-- name: count_add
UPDATE outbox SET a = a + ?2 WHERE id = ?1

-- name: count_start
INSERT INTO outbox (id, a) VALUES (?1, ?2)

-- name: subscriptions_count
SELECT a FROM outbox WHERE id = 4611686018427387904

-- ---- The recompute.

-- name: recompute_groups
SELECT grp FROM grp WHERE grp > ?1 ORDER BY grp LIMIT 1

-- Every origin that should be; ?1: the owner's number. Sorted, so that many go in quickly.
-- name: recompute_origins_add
INSERT OR IGNORE INTO origin (user, origin)
SELECT f.target AS user, 0 AS origin FROM follow f
WHERE f.kind = 0 AND f.present = 1 AND f.target <> ?1
UNION ALL
SELECT m.user, m.grp FROM grp g CROSS JOIN member m ON m.grp = g.grp
WHERE g.granted AND m.present = 1 AND m.user <> ?1
ORDER BY 1, 2

-- How many origins there are beyond those that should be, once none is missing.
-- name: recompute_origins_over
SELECT (SELECT count(*) FROM origin)
       - (SELECT count(*) FROM follow f
          WHERE f.kind = 0 AND f.present = 1 AND f.target <> ?1)
       - (SELECT count(*) FROM grp g CROSS JOIN member m ON m.grp = g.grp
          WHERE g.granted AND m.present = 1 AND m.user <> ?1)

-- name: recompute_origins_remove
DELETE FROM origin WHERE user = ?1
    OR CASE origin
       WHEN 0 THEN NOT EXISTS (SELECT 1 FROM follow f WHERE f.kind = 0 AND f.target = origin.user
                               AND f.present = 1)
       ELSE NOT EXISTS (SELECT 1 FROM grp g JOIN member m ON m.grp = g.grp
                        WHERE g.grp = origin.origin AND g.granted AND m.user = origin.user
                        AND m.present = 1)
       END

-- name: recompute_subscriptions_count
INSERT INTO outbox (id, a)
SELECT 4611686018427387904, c.users
FROM (SELECT count(*) AS users FROM (SELECT DISTINCT user FROM origin)) AS c
WHERE c.users <> ifnull((SELECT o.a FROM outbox o WHERE o.id = 4611686018427387904), 0)
ON CONFLICT (id) DO UPDATE SET a = excluded.a

-- name: recompute_list_counts
INSERT INTO outbox (id, a)
SELECT c.id, c.items
FROM (SELECT 4611686018427387904 + list AS id, count(*) AS items FROM item
      WHERE present = 1 GROUP BY list) AS c LEFT JOIN outbox o ON o.id = c.id
WHERE o.a IS NOT c.items
ON CONFLICT (id) DO UPDATE SET a = excluded.a

-- name: recompute_list_counts_over
UPDATE outbox SET a = 0
WHERE id > 4611686018427387904 AND a <> 0
      AND NOT EXISTS (SELECT 1 FROM item i
                      WHERE i.list = outbox.id - 4611686018427387904 AND i.present = 1)

-- name: origins_clear
DELETE FROM origin

