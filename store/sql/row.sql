-- Rows, one set of queries a collection, all of one form: row.c binds and reads them by the
-- descriptor. Key columns come first, in the order of the table's primary key, then the fields,
-- then stamp, stamps, extra, seq, place, pending, offered, tried.

-- name: follow_get
SELECT present, stamp, stamps, extra, seq, place, pending, offered, tried FROM follow WHERE kind
    = ?1 AND target = ?2;

-- name: follow_insert
INSERT INTO follow (kind, target, present, stamp, stamps, extra, seq, place, pending, offered,
    tried) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO NOTHING;

-- name: follow_update
UPDATE follow SET present = ?3, stamp = ?4, stamps = ?5, extra = ?6, seq = ?7, place = ?8,
    pending = ?9, offered = ?10, tried = ?11 WHERE kind = ?1 AND target = ?2;

-- name: follow_place
SELECT place FROM follow WHERE kind = ?1 AND target = ?2;

-- name: follow_mark
UPDATE follow SET seq = ?3, place = ?4, pending = ?5, offered = ?6, tried = ?7 WHERE kind = ?1
    AND target = ?2;

-- name: follow_remove
DELETE FROM follow WHERE kind = ?1 AND target = ?2;

-- name: follow_walk
SELECT kind, target, present, stamp, stamps, extra, seq, place, pending, offered, tried FROM
    follow WHERE (kind, target) > (?1, ?2) ORDER BY kind, target LIMIT ?3;

-- Rows of the outbox from ?1 to ?2, both left out.
-- name: follow_waiting
SELECT r.kind, r.target, r.present, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending,
    r.offered, r.tried FROM outbox o CROSS JOIN follow r ON r.kind = o.a AND r.target = o.b
    WHERE o.id > ?1 AND o.id < ?2 ORDER BY o.id LIMIT ?3;

-- name: follow_waiting_back
SELECT r.kind, r.target, r.present, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending,
    r.offered, r.tried FROM outbox o CROSS JOIN follow r ON r.kind = o.a AND r.target = o.b
    WHERE o.id > ?1 AND o.id < ?2 ORDER BY o.id DESC LIMIT ?3;

-- name: follow_forget
UPDATE follow SET seq = -1 WHERE seq > 0;

-- name: mygroup_get
SELECT present, role, stamp, stamps, extra, seq, place, pending, offered, tried FROM mygroup
    WHERE grp = ?1;

-- name: mygroup_insert
INSERT INTO mygroup (grp, present, role, stamp, stamps, extra, seq, place, pending, offered,
    tried) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO NOTHING;

-- name: mygroup_update
UPDATE mygroup SET present = ?2, role = ?3, stamp = ?4, stamps = ?5, extra = ?6, seq = ?7, place
    = ?8, pending = ?9, offered = ?10, tried = ?11 WHERE grp = ?1;

-- name: mygroup_place
SELECT place FROM mygroup WHERE grp = ?1;

-- name: mygroup_mark
UPDATE mygroup SET seq = ?2, place = ?3, pending = ?4, offered = ?5, tried = ?6 WHERE grp = ?1;

-- name: mygroup_remove
DELETE FROM mygroup WHERE grp = ?1;

-- name: mygroup_walk
SELECT grp, present, role, stamp, stamps, extra, seq, place, pending, offered, tried FROM
    mygroup WHERE grp > ?1 ORDER BY grp LIMIT ?2;

-- name: mygroup_waiting
SELECT r.grp, r.present, r.role, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending,
    r.offered, r.tried FROM outbox o CROSS JOIN mygroup r ON r.grp = o.a WHERE o.id > ?1 AND
    o.id < ?2 ORDER BY o.id LIMIT ?3;

-- name: mygroup_waiting_back
SELECT r.grp, r.present, r.role, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending,
    r.offered, r.tried FROM outbox o CROSS JOIN mygroup r ON r.grp = o.a WHERE o.id > ?1 AND
    o.id < ?2 ORDER BY o.id DESC LIMIT ?3;

-- name: mygroup_forget
UPDATE mygroup SET seq = -1 WHERE seq > 0;

-- name: list_get
SELECT name, rank, deleted, stamp, stamps, extra, seq, place, pending, offered, tried FROM list
    WHERE list = ?1;

-- name: list_insert
INSERT INTO list (list, name, rank, deleted, stamp, stamps, extra, seq, place, pending, offered,
    tried) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT DO NOTHING;

-- name: list_update
UPDATE list SET name = ?2, rank = ?3, deleted = ?4, stamp = ?5, stamps = ?6, extra = ?7, seq =
    ?8, place = ?9, pending = ?10, offered = ?11, tried = ?12 WHERE list = ?1;

-- name: list_place
SELECT place FROM list WHERE list = ?1;

-- name: list_mark
UPDATE list SET seq = ?2, place = ?3, pending = ?4, offered = ?5, tried = ?6 WHERE list = ?1;

-- name: list_remove
DELETE FROM list WHERE list = ?1;

-- name: list_walk
SELECT list, name, rank, deleted, stamp, stamps, extra, seq, place, pending, offered, tried FROM
    list WHERE list > ?1 ORDER BY list LIMIT ?2;

-- name: list_waiting
SELECT r.list, r.name, r.rank, r.deleted, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending,
    r.offered, r.tried FROM outbox o CROSS JOIN list r ON r.list = o.a WHERE o.id > ?1 AND o.id
    < ?2 ORDER BY o.id LIMIT ?3;

-- name: list_waiting_back
SELECT r.list, r.name, r.rank, r.deleted, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending,
    r.offered, r.tried FROM outbox o CROSS JOIN list r ON r.list = o.a WHERE o.id > ?1 AND o.id
    < ?2 ORDER BY o.id DESC LIMIT ?3;

-- name: list_forget
UPDATE list SET seq = -1 WHERE seq > 0;

-- name: item_get
SELECT present, created_at, rank, title, data, attachments, stamp, stamps, extra, seq, place,
    pending, offered, tried FROM item WHERE id = ?1 AND type = ?2 AND list = ?3;

-- name: item_insert
INSERT INTO item (id, type, list, present, created_at, rank, title, data, attachments, stamp,
    stamps, extra, seq, place, pending, offered, tried) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,
    ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17) ON CONFLICT DO NOTHING;

-- name: item_update
UPDATE item SET present = ?4, created_at = ?5, rank = ?6, title = ?7, data = ?8, attachments =
    ?9, stamp = ?10, stamps = ?11, extra = ?12, seq = ?13, place = ?14, pending = ?15, offered =
    ?16, tried = ?17 WHERE id = ?1 AND type = ?2 AND list = ?3;

-- name: item_place
SELECT place FROM item WHERE id = ?1 AND type = ?2 AND list = ?3;

-- name: item_mark
UPDATE item SET seq = ?4, place = ?5, pending = ?6, offered = ?7, tried = ?8 WHERE id = ?1 AND
    type = ?2 AND list = ?3;

-- name: item_remove
DELETE FROM item WHERE id = ?1 AND type = ?2 AND list = ?3;

-- name: item_walk
SELECT id, type, list, present, created_at, rank, title, data, attachments, stamp, stamps,
    extra, seq, place, pending, offered, tried FROM item WHERE (id, type, list) > (?1, ?2, ?3)
    ORDER BY id, type, list LIMIT ?4;

-- name: item_waiting
SELECT r.id, r.type, r.list, r.present, r.created_at, r.rank, r.title, r.data, r.attachments,
    r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending, r.offered, r.tried FROM outbox o
    CROSS JOIN item r ON r.id = o.a AND r.type = o.b AND r.list = o.c WHERE o.id > ?1 AND o.id <
    ?2 ORDER BY o.id LIMIT ?3;

-- name: item_waiting_back
SELECT r.id, r.type, r.list, r.present, r.created_at, r.rank, r.title, r.data, r.attachments,
    r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending, r.offered, r.tried FROM outbox o
    CROSS JOIN item r ON r.id = o.a AND r.type = o.b AND r.list = o.c WHERE o.id > ?1 AND o.id <
    ?2 ORDER BY o.id DESC LIMIT ?3;

-- name: item_forget
UPDATE item SET seq = -1 WHERE seq > 0;

-- name: grp_get
SELECT name, owner, joining, deleted, stamp, stamps, extra, seq, place, pending, offered, tried
    FROM grp WHERE grp = ?1;

-- name: grp_insert
INSERT INTO grp (grp, name, owner, joining, deleted, stamp, stamps, extra, seq, place, pending,
    offered, tried) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) ON CONFLICT
    DO NOTHING;

-- name: grp_update
UPDATE grp SET name = ?2, owner = ?3, joining = ?4, deleted = ?5, stamp = ?6, stamps = ?7, extra
    = ?8, seq = ?9, place = ?10, pending = ?11, offered = ?12, tried = ?13 WHERE grp = ?1;

-- name: grp_place
SELECT place FROM grp WHERE grp = ?1;

-- name: grp_mark
UPDATE grp SET seq = ?2, place = ?3, pending = ?4, offered = ?5, tried = ?6 WHERE grp = ?1;

-- name: grp_remove
DELETE FROM grp WHERE grp = ?1;

-- name: grp_walk
SELECT grp, name, owner, joining, deleted, stamp, stamps, extra, seq, place, pending, offered,
    tried FROM grp WHERE grp = ?1 ORDER BY grp LIMIT ?2;

-- name: grp_waiting
SELECT r.grp, r.name, r.owner, r.joining, r.deleted, r.stamp, r.stamps, r.extra, r.seq, r.place,
    r.pending, r.offered, r.tried FROM outbox o CROSS JOIN grp r ON r.grp = o.a WHERE o.id > ?1
    AND o.id < ?2 ORDER BY o.id LIMIT ?3;

-- name: grp_waiting_back
SELECT r.grp, r.name, r.owner, r.joining, r.deleted, r.stamp, r.stamps, r.extra, r.seq, r.place,
    r.pending, r.offered, r.tried FROM outbox o CROSS JOIN grp r ON r.grp = o.a WHERE o.id > ?1
    AND o.id < ?2 ORDER BY o.id DESC LIMIT ?3;

-- name: grp_forget
UPDATE grp SET seq = -1 WHERE grp = ?1 AND seq > 0;

-- name: member_get
SELECT present, role, stamp, stamps, extra, seq, place, pending, offered, tried FROM member
    WHERE grp = ?1 AND user = ?2;

-- name: member_insert
INSERT INTO member (grp, user, present, role, stamp, stamps, extra, seq, place, pending,
    offered, tried) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT DO
    NOTHING;

-- name: member_update
UPDATE member SET present = ?3, role = ?4, stamp = ?5, stamps = ?6, extra = ?7, seq = ?8, place
    = ?9, pending = ?10, offered = ?11, tried = ?12 WHERE grp = ?1 AND user = ?2;

-- name: member_place
SELECT place FROM member WHERE grp = ?1 AND user = ?2;

-- name: member_mark
UPDATE member SET seq = ?3, place = ?4, pending = ?5, offered = ?6, tried = ?7 WHERE grp = ?1
    AND user = ?2;

-- name: member_remove
DELETE FROM member WHERE grp = ?1 AND user = ?2;

-- name: member_walk
SELECT grp, user, present, role, stamp, stamps, extra, seq, place, pending, offered, tried FROM
    member WHERE grp = ?1 AND user > ?2 ORDER BY grp, user LIMIT ?3;

-- name: member_waiting
SELECT r.grp, r.user, r.present, r.role, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending,
    r.offered, r.tried FROM outbox o CROSS JOIN member r ON r.grp = o.a AND r.user = o.b WHERE
    o.id > ?1 AND o.id < ?2 ORDER BY o.id LIMIT ?3;

-- name: member_waiting_back
SELECT r.grp, r.user, r.present, r.role, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending,
    r.offered, r.tried FROM outbox o CROSS JOIN member r ON r.grp = o.a AND r.user = o.b WHERE
    o.id > ?1 AND o.id < ?2 ORDER BY o.id DESC LIMIT ?3;

-- name: member_forget
UPDATE member SET seq = -1 WHERE grp = ?1 AND seq > 0;

-- name: other_get
SELECT stamp, stamps, extra, seq, place, pending, offered, tried FROM other WHERE grp = ?1 AND
    collection = ?2 AND a = ?3 AND b = ?4 AND c = ?5 AND parts = ?6;

-- name: other_insert
INSERT INTO other (grp, collection, a, b, c, parts, stamp, stamps, extra, seq, place, pending,
    offered, tried) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) ON
    CONFLICT DO NOTHING;

-- name: other_update
UPDATE other SET stamp = ?7, stamps = ?8, extra = ?9, seq = ?10, place = ?11, pending = ?12,
    offered = ?13, tried = ?14 WHERE grp = ?1 AND collection = ?2 AND a = ?3 AND b = ?4 AND c =
    ?5 AND parts = ?6;

-- name: other_place
SELECT place FROM other WHERE grp = ?1 AND collection = ?2 AND a = ?3 AND b = ?4 AND c = ?5 AND
    parts = ?6;

-- name: other_mark
UPDATE other SET seq = ?7, place = ?8, pending = ?9, offered = ?10, tried = ?11 WHERE grp = ?1
    AND collection = ?2 AND a = ?3 AND b = ?4 AND c = ?5 AND parts = ?6;

-- name: other_remove
DELETE FROM other WHERE grp = ?1 AND collection = ?2 AND a = ?3 AND b = ?4 AND c = ?5 AND parts
    = ?6;

-- name: other_walk
SELECT grp, collection, a, b, c, parts, stamp, stamps, extra, seq, place, pending, offered,
    tried FROM other WHERE grp = ?1 AND (collection, a, b, c, parts) > (?2, ?3, ?4, ?5, ?6)
    ORDER BY grp, collection, a, b, c, parts LIMIT ?7;

-- name: other_waiting
SELECT r.grp, r.collection, r.a, r.b, r.c, r.parts, r.stamp, r.stamps, r.extra, r.seq, r.place,
    r.pending, r.offered, r.tried FROM outbox o CROSS JOIN other r ON r.grp = o.a AND
    r.collection = o.b AND r.a = o.c AND r.b = o.d AND r.c = o.e AND r.parts = o.f WHERE o.id >
    ?1 AND o.id < ?2 ORDER BY o.id LIMIT ?3;

-- name: other_waiting_back
SELECT r.grp, r.collection, r.a, r.b, r.c, r.parts, r.stamp, r.stamps, r.extra, r.seq, r.place,
    r.pending, r.offered, r.tried FROM outbox o CROSS JOIN other r ON r.grp = o.a AND
    r.collection = o.b AND r.a = o.c AND r.b = o.d AND r.c = o.e AND r.parts = o.f WHERE o.id >
    ?1 AND o.id < ?2 ORDER BY o.id DESC LIMIT ?3;

-- name: other_forget
UPDATE other SET seq = -1 WHERE grp = ?1 AND seq > 0;
