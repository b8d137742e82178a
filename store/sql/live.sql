-- Live records in the order of dumps: by collection, then by the texts of their keys. Columns as in
-- row.sql.

-- name: live_follow
SELECT r.kind, r.target, r.present, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending, r.offered,
    r.tried FROM follow r CROSS JOIN name n ON n.id = r.target WHERE r.present = 1 ORDER BY
    r.kind DESC, n.text;

-- name: live_mygroup
SELECT r.grp, r.present, r.role, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending, r.offered,
    r.tried FROM mygroup r CROSS JOIN name n ON n.id = r.grp WHERE r.present = 1 ORDER BY n.text;

-- name: live_list
SELECT r.list, r.name, r.rank, r.deleted, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending,
    r.offered, r.tried FROM list r CROSS JOIN name n ON n.id = r.list WHERE r.deleted = 0 ORDER
    BY n.text;

-- name: live_item
SELECT r.id, r.type, r.list, r.present, r.created_at, r.rank, r.title, r.data, r.attachments,
    r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending, r.offered, r.tried FROM list l CROSS JOIN name
    n ON n.id = l.list CROSS JOIN item r ON r.list = l.list AND r.present = 1 CROSS JOIN name t
    ON t.id = r.type WHERE l.deleted = 0 ORDER BY n.text, t.text, r.id;

-- name: live_grp
SELECT r.grp, r.name, r.owner, r.joining, r.deleted, r.stamp, r.stamps, r.extra, r.seq,
    r.place, r.pending, r.offered, r.tried FROM grp r WHERE r.grp = ?1 AND r.deleted = 0;

-- name: live_member
SELECT r.grp, r.user, r.present, r.role, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending,
    r.offered, r.tried FROM grp g CROSS JOIN member r ON r.grp = g.grp AND r.present = 1 CROSS
    JOIN name n ON n.id = r.user WHERE g.grp = ?1 AND g.deleted = 0 ORDER BY n.text;

-- name: live_other
SELECT r.grp, r.collection, r.a, r.b, r.c, r.parts, r.stamp, r.stamps, r.extra, r.seq,
    r.place, r.pending, r.offered, r.tried FROM other r WHERE r.grp = ?1 AND r.collection = ?2 ORDER BY
    r.a, r.b, r.c, r.parts;

-- name: other_collections
SELECT DISTINCT collection FROM other WHERE grp = ?1 ORDER BY collection;

-- name: list_is_live
SELECT 1 FROM list WHERE list = ?1 AND deleted = 0;

-- name: grp_is_live
SELECT 1 FROM grp WHERE grp = ?1 AND deleted = 0;
