-- Pages of the graph (graph_page.c, explain_page.c), in the order of ids.
--
-- Rows hold numbers, and numbers have no order. Few rows are sorted by their names for every page
-- ("sorted"); where there are many, names are walked in their order and looked up in the rows
-- ("forward", "backward"), which finds a page's worth soon.

-- The first ?1 follows at most are counted.
-- name: following_few
SELECT count(*) FROM (SELECT 1 FROM follow LIMIT ?1)

-- ?1: kind, ?2: the id to go on from, ?3: whether backwards, ?4: rows at most.
-- name: following_sorted
SELECT f.kind, n.text FROM follow f CROSS JOIN name n ON n.id = f.target
WHERE f.kind = ?1 AND f.present = 1
      AND CASE WHEN ?3 THEN n.text < ?2 ELSE n.text > ?2 END
ORDER BY CASE WHEN NOT ?3 THEN n.text END, n.text DESC LIMIT ?4

-- name: following_forward
SELECT f.kind, n.text FROM name n CROSS JOIN follow f ON f.kind = ?1 AND f.target = n.id
WHERE n.text > ?2 AND f.present = 1 ORDER BY n.text LIMIT ?3

-- name: following_backward
SELECT f.kind, n.text FROM name n CROSS JOIN follow f ON f.kind = ?1 AND f.target = n.id
WHERE n.text < ?2 AND f.present = 1 ORDER BY n.text DESC LIMIT ?3

-- name: members_few
SELECT count(*) FROM (SELECT 1 FROM member WHERE grp = ?1 LIMIT ?2)

-- ?1: the group, ?2: the id to go on from, ?3: whether backwards, ?4: rows at most.
-- name: members_sorted
SELECT m.role, n.text FROM member m CROSS JOIN name n ON n.id = m.user
WHERE m.grp = ?1 AND m.present = 1
      AND CASE WHEN ?3 THEN n.text < ?2 ELSE n.text > ?2 END
ORDER BY CASE WHEN NOT ?3 THEN n.text END, n.text DESC LIMIT ?4

-- name: members_forward
SELECT m.role, n.text FROM name n CROSS JOIN member m ON m.grp = ?1 AND m.user = n.id
WHERE n.text > ?2 AND m.present = 1 ORDER BY n.text LIMIT ?3

-- name: members_backward
SELECT m.role, n.text FROM name n CROSS JOIN member m ON m.grp = ?1 AND m.user = n.id
WHERE n.text < ?2 AND m.present = 1 ORDER BY n.text DESC LIMIT ?3

-- name: member_count
SELECT count(*) FROM member WHERE grp = ?1 AND present = 1

-- name: member_unsent
SELECT n.text FROM member m JOIN name n ON n.id = m.user
WHERE m.grp = ?1 AND m.pending <> 0 AND m.seq = 0 AND m.tried = 0 LIMIT 1

-- name: subscriptions_few
SELECT count(*) FROM (SELECT 1 FROM origin LIMIT ?1)

-- ?1: the id to go on from, ?2: whether backwards, ?3: rows at most.
-- name: subscriptions_sorted
SELECT n.id, n.text FROM (SELECT DISTINCT user FROM origin) o CROSS JOIN name n ON n.id = o.user
WHERE CASE WHEN ?2 THEN n.text < ?1 ELSE n.text > ?1 END
ORDER BY CASE WHEN NOT ?2 THEN n.text END, n.text DESC LIMIT ?3

-- name: subscriptions_forward
SELECT n.id, n.text FROM name n
WHERE n.text > ?1 AND EXISTS (SELECT 1 FROM origin o WHERE o.user = n.id)
ORDER BY n.text LIMIT ?2

-- name: subscriptions_backward
SELECT n.id, n.text FROM name n
WHERE n.text < ?1 AND EXISTS (SELECT 1 FROM origin o WHERE o.user = n.id)
ORDER BY n.text DESC LIMIT ?2

-- name: subscription_one
SELECT n.id, n.text FROM name n
WHERE n.text = ?1 AND EXISTS (SELECT 1 FROM origin o WHERE o.user = n.id)

-- A user's origins, '!' first.
-- name: origins_of
SELECT ifnull(n.text, '!') FROM origin o LEFT JOIN name n ON n.id = o.origin
WHERE o.user = ?1 ORDER BY o.origin <> 0, 1

-- ?1: the user's number, ?2: the owner's, ?3: his id, ?4: the group's id to go on from, ?5: whether
-- backwards, ?6: rows at most. Whether the group is followed, known, deleted, has the user, is closed
-- to the owner; whether something of that is pending.
-- name: reasons
SELECT n.text, ifnull(f.present = 1 AND f.kind IS NOT NULL, 0), r.grp IS NOT NULL,
       r.deleted IS 1, m.grp IS NOT NULL AND m.present = 1,
       r.joining IS 'closed' AND r.owner IS NOT ?3
           AND NOT EXISTS (SELECT 1 FROM member o WHERE o.grp = g.grp AND o.user = ?2
                           AND o.present = 1),
       ifnull(f.pending, 0) <> 0 OR ifnull(r.pending, 0) <> 0 OR ifnull(m.pending, 0) <> 0
FROM (SELECT grp FROM grp UNION SELECT target FROM follow WHERE kind = 1) g
     CROSS JOIN name n ON n.id = g.grp
     LEFT JOIN follow f ON f.kind = 1 AND f.target = g.grp
     LEFT JOIN grp r ON r.grp = g.grp
     LEFT JOIN member m ON m.grp = g.grp AND m.user = ?1
WHERE ((f.kind IS NOT NULL AND f.present = 1) OR (m.grp IS NOT NULL AND m.present = 1))
      AND CASE WHEN ?5 THEN n.text < ?4 ELSE n.text > ?4 END
ORDER BY CASE WHEN NOT ?5 THEN n.text END, n.text DESC LIMIT ?6

-- name: reason_direct
SELECT present = 1, pending <> 0 FROM follow WHERE kind = 0 AND target = ?1
