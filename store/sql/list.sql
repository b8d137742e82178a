-- Pages of lists and items (list_page.c, item_page.c). Bounds compare ranks alone first, so that the
-- index of the order is used, then the whole key; names stand in the key, not the numbers that they
-- have in this file, so that the order is the same on every device.

-- name: list_live
SELECT l.list FROM name n JOIN list l ON l.list = n.id WHERE n.text = ?1 AND l.deleted = 0

-- name: list_end
SELECT (SELECT i.rank FROM item i
        WHERE i.list = l.list AND i.present = 1
        ORDER BY i.rank DESC LIMIT 1)
FROM list l WHERE l.list = ?1 AND l.deleted = 0

-- ?1, ?2: the key to go on from; ?3: rows at most.
-- name: lists_forward
SELECT n.text, l.name, (SELECT o.a FROM outbox o WHERE o.id = 4611686018427387904 + l.list), l.rank
FROM list l CROSS JOIN name n ON n.id = l.list
WHERE l.deleted = 0 AND l.rank >= ?1 AND (l.rank, n.text) > (?1, ?2)
ORDER BY l.rank, n.text LIMIT ?3

-- name: lists_backward
SELECT n.text, l.name, (SELECT o.a FROM outbox o WHERE o.id = 4611686018427387904 + l.list), l.rank
FROM list l CROSS JOIN name n ON n.id = l.list
WHERE l.deleted = 0 AND l.rank <= ?1 AND (l.rank, n.text) < (?1, ?2)
ORDER BY l.rank DESC, n.text DESC LIMIT ?3

-- name: list_one
SELECT n.text, l.name, (SELECT o.a FROM outbox o WHERE o.id = 4611686018427387904 + l.list), l.rank
FROM name n JOIN list l ON l.list = n.id WHERE n.text = ?1 AND l.deleted = 0

-- ?1, ?2: type and id of the item; ?3, ?4: the key to go on from; ?5: rows at most.
-- name: lists_with_forward
SELECT n.text, l.name, (SELECT o.a FROM outbox o WHERE o.id = 4611686018427387904 + l.list), l.rank
FROM name t CROSS JOIN item i ON i.type = t.id CROSS JOIN list l ON l.list = i.list
     CROSS JOIN name n ON n.id = l.list
WHERE t.text = ?1 AND i.id = ?2 AND i.present = 1 AND l.deleted = 0
      AND (l.rank, n.text) > (?3, ?4)
ORDER BY l.rank, n.text LIMIT ?5

-- name: lists_with_backward
SELECT n.text, l.name, (SELECT o.a FROM outbox o WHERE o.id = 4611686018427387904 + l.list), l.rank
FROM name t CROSS JOIN item i ON i.type = t.id CROSS JOIN list l ON l.list = i.list
     CROSS JOIN name n ON n.id = l.list
WHERE t.text = ?1 AND i.id = ?2 AND i.present = 1 AND l.deleted = 0
      AND (l.rank, n.text) < (?3, ?4)
ORDER BY l.rank DESC, n.text DESC LIMIT ?5

-- ?1: the list's number; ?2, ?3, ?4: the key to go on from; ?5: rows at most.
-- name: items_forward
SELECT t.text, i.id, i.created_at, i.title, i.data, i.rank
FROM item i CROSS JOIN name t ON t.id = i.type
WHERE i.list = ?1 AND i.present = 1 AND i.rank >= ?2
      AND (i.rank, i.id, t.text) > (?2, ?3, ?4)
ORDER BY i.rank, i.id, t.text LIMIT ?5

-- name: items_backward
SELECT t.text, i.id, i.created_at, i.title, i.data, i.rank
FROM item i CROSS JOIN name t ON t.id = i.type
WHERE i.list = ?1 AND i.present = 1 AND i.rank <= ?2
      AND (i.rank, i.id, t.text) < (?2, ?3, ?4)
ORDER BY i.rank DESC, i.id DESC, t.text DESC LIMIT ?5

-- name: item_one
SELECT t.text, i.id, i.created_at, i.title, i.data, i.rank
FROM item i CROSS JOIN name t ON t.id = i.type
WHERE i.type = ?1 AND i.id = ?2 AND i.list = ?3 AND i.present = 1
