-- The search index: see search_index.c. Its tables are made with a file that is to have search, and are no
-- part of the numbered schema.

-- One row per list (item 0, type and id empty) and per present item, with what is searched of it,
-- folded.
-- name: search_make_doc
CREATE TABLE search_doc (
    doc INTEGER PRIMARY KEY,
    item INTEGER NOT NULL,
    list TEXT NOT NULL,
    type TEXT NOT NULL,
    id TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (item, list, type, id)
) STRICT

-- Pairs of neighbouring characters, parted by spaces, as if they were words.
-- name: search_make_pair
CREATE VIRTUAL TABLE search_pair USING fts5 (
    pairs, content = '', columnsize = 0, detail = none,
    tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
)

-- name: search_doc_get
SELECT doc, text FROM search_doc WHERE item = ?1 AND list = ?2 AND type = ?3 AND id = ?4

-- name: search_doc_insert
INSERT INTO search_doc (item, list, type, id, text) VALUES (?1, ?2, ?3, ?4, ?5)

-- name: search_doc_update
UPDATE search_doc SET text = ?2 WHERE doc = ?1

-- name: search_doc_remove
DELETE FROM search_doc WHERE doc = ?1

-- name: search_pair_add
INSERT INTO search_pair (rowid, pairs) VALUES (?1, ?2)

-- name: search_pair_remove
INSERT INTO search_pair (search_pair, rowid, pairs) VALUES ('delete', ?1, ?2)

-- name: search_pair_clear
INSERT INTO search_pair (search_pair) VALUES ('delete-all')

-- name: search_doc_clear
DELETE FROM search_doc

-- name: search_available
SELECT count(*) FROM pragma_module_list WHERE name = 'fts5'

-- ---- The recompute.

-- name: search_lists
SELECT n.text, l.name FROM list l CROSS JOIN name n ON n.id = l.list WHERE l.deleted = 0

-- name: search_items
SELECT n.text, t.text, i.id, i.title, i.data
FROM item i CROSS JOIN name n ON n.id = i.list CROSS JOIN name t ON t.id = i.type
WHERE i.present = 1

-- name: search_docs
SELECT doc, text FROM search_doc

-- name: search_pair_has
SELECT count(*) FROM search_pair WHERE search_pair MATCH ?1 AND rowid = ?2

-- name: search_doc_remove_strays
DELETE FROM search_doc WHERE CASE item
    WHEN 0 THEN NOT EXISTS (
        SELECT 1 FROM name n JOIN list l ON l.list = n.id
        WHERE n.text = search_doc.list AND l.deleted = 0)
    ELSE NOT EXISTS (
        SELECT 1 FROM name n JOIN name t JOIN item i
            ON i.type = t.id AND i.id = search_doc.id AND i.list = n.id
        WHERE n.text = search_doc.list AND t.text = search_doc.type AND i.present = 1)
    END

-- ---- Searching. ?1: the words as a JSON array, ?2 to ?5: the key to go on from, ?6: rows at most,
-- ?7: the pairs that must occur. A page is taken from the rows that the pairs name ("few"), or where
-- these are many, from all rows in their order.

-- name: search_candidates
SELECT count(*) FROM (SELECT 1 FROM search_pair WHERE search_pair MATCH ?1 LIMIT ?2)

-- name: search_few_forward
SELECT h.item, h.list, h.type, h.id, h.name,
       (SELECT i.title FROM name t JOIN item i ON i.type = t.id AND i.id = h.id AND i.list = h.number
        WHERE t.text = h.type)
FROM (SELECT d.item AS item, d.list AS list, d.type AS type, d.id AS id, l.name AS name,
             l.list AS number
      FROM search_pair p CROSS JOIN search_doc d ON d.doc = p.rowid
           CROSS JOIN name n ON n.text = d.list CROSS JOIN list l ON l.list = n.id
      WHERE p.search_pair MATCH ?7 AND (d.item, d.list, d.type, d.id) > (?2, ?3, ?4, ?5)
            AND NOT EXISTS (SELECT 1 FROM json_each(?1) w WHERE instr(d.text, w.value) = 0)
            AND l.deleted = 0
      ORDER BY d.item, d.list, d.type, d.id LIMIT ?6) h
ORDER BY h.item, h.list, h.type, h.id

-- name: search_few_backward
SELECT h.item, h.list, h.type, h.id, h.name,
       (SELECT i.title FROM name t JOIN item i ON i.type = t.id AND i.id = h.id AND i.list = h.number
        WHERE t.text = h.type)
FROM (SELECT d.item AS item, d.list AS list, d.type AS type, d.id AS id, l.name AS name,
             l.list AS number
      FROM search_pair p CROSS JOIN search_doc d ON d.doc = p.rowid
           CROSS JOIN name n ON n.text = d.list CROSS JOIN list l ON l.list = n.id
      WHERE p.search_pair MATCH ?7 AND (d.item, d.list, d.type, d.id) < (?2, ?3, ?4, ?5)
            AND NOT EXISTS (SELECT 1 FROM json_each(?1) w WHERE instr(d.text, w.value) = 0)
            AND l.deleted = 0
      ORDER BY d.item DESC, d.list DESC, d.type DESC, d.id DESC LIMIT ?6) h
ORDER BY h.item DESC, h.list DESC, h.type DESC, h.id DESC

-- name: search_many_forward
SELECT h.item, h.list, h.type, h.id, h.name,
       (SELECT i.title FROM name t JOIN item i ON i.type = t.id AND i.id = h.id AND i.list = h.number
        WHERE t.text = h.type)
FROM (SELECT d.item AS item, d.list AS list, d.type AS type, d.id AS id, l.name AS name,
             l.list AS number
      FROM search_doc d
           CROSS JOIN name n ON n.text = d.list CROSS JOIN list l ON l.list = n.id
      WHERE (d.item, d.list, d.type, d.id) > (?2, ?3, ?4, ?5)
            AND NOT EXISTS (SELECT 1 FROM json_each(?1) w WHERE instr(d.text, w.value) = 0)
            AND l.deleted = 0
      ORDER BY d.item, d.list, d.type, d.id LIMIT ?6) h
ORDER BY h.item, h.list, h.type, h.id

-- name: search_many_backward
SELECT h.item, h.list, h.type, h.id, h.name,
       (SELECT i.title FROM name t JOIN item i ON i.type = t.id AND i.id = h.id AND i.list = h.number
        WHERE t.text = h.type)
FROM (SELECT d.item AS item, d.list AS list, d.type AS type, d.id AS id, l.name AS name,
             l.list AS number
      FROM search_doc d
           CROSS JOIN name n ON n.text = d.list CROSS JOIN list l ON l.list = n.id
      WHERE (d.item, d.list, d.type, d.id) < (?2, ?3, ?4, ?5)
            AND NOT EXISTS (SELECT 1 FROM json_each(?1) w WHERE instr(d.text, w.value) = 0)
            AND l.deleted = 0
      ORDER BY d.item DESC, d.list DESC, d.type DESC, d.id DESC LIMIT ?6) h
ORDER BY h.item DESC, h.list DESC, h.type DESC, h.id DESC
