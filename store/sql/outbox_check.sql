-- Whether rows and their places in the outbox agree (outbox_check.c). Of each table: rows that name a
-- place that is not theirs, or do not wait; places between ?1 and ?2 that no row names; rows that wait
-- without a place.

-- name: astray_follow
UPDATE follow AS r SET place = NULL WHERE r.place IS NOT NULL AND (r.pending = 0 OR NOT EXISTS
    (SELECT 1 FROM outbox o WHERE o.id = r.place AND o.a = r.kind AND o.b = r.target));

-- name: vacant_follow
DELETE FROM outbox WHERE id > ?1 AND id < ?2 AND NOT EXISTS (SELECT 1 FROM follow r WHERE r.kind
    = outbox.a AND r.target = outbox.b AND r.place = outbox.id);

-- name: homeless_follow
SELECT r.kind, r.target, r.present, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending,
    r.offered, r.tried FROM follow r WHERE r.pending <> 0 AND r.place IS NULL LIMIT ?1;

-- name: astray_mygroup
UPDATE mygroup AS r SET place = NULL WHERE r.place IS NOT NULL AND (r.pending = 0 OR NOT EXISTS
    (SELECT 1 FROM outbox o WHERE o.id = r.place AND o.a = r.grp));

-- name: vacant_mygroup
DELETE FROM outbox WHERE id > ?1 AND id < ?2 AND NOT EXISTS (SELECT 1 FROM mygroup r WHERE r.grp
    = outbox.a AND r.place = outbox.id);

-- name: homeless_mygroup
SELECT r.grp, r.present, r.role, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending,
    r.offered, r.tried FROM mygroup r WHERE r.pending <> 0 AND r.place IS NULL LIMIT ?1;

-- name: astray_list
UPDATE list AS r SET place = NULL WHERE r.place IS NOT NULL AND (r.pending = 0 OR NOT EXISTS
    (SELECT 1 FROM outbox o WHERE o.id = r.place AND o.a = r.list));

-- name: vacant_list
DELETE FROM outbox WHERE id > ?1 AND id < ?2 AND NOT EXISTS (SELECT 1 FROM list r WHERE r.list =
    outbox.a AND r.place = outbox.id);

-- name: homeless_list
SELECT r.list, r.name, r.rank, r.deleted, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending,
    r.offered, r.tried FROM list r WHERE r.pending <> 0 AND r.place IS NULL LIMIT ?1;

-- name: astray_item
UPDATE item AS r SET place = NULL WHERE r.place IS NOT NULL AND (r.pending = 0 OR NOT EXISTS
    (SELECT 1 FROM outbox o WHERE o.id = r.place AND o.a = r.id AND o.b = r.type AND o.c =
    r.list));

-- name: vacant_item
DELETE FROM outbox WHERE id > ?1 AND id < ?2 AND NOT EXISTS (SELECT 1 FROM item r WHERE r.id =
    outbox.a AND r.type = outbox.b AND r.list = outbox.c AND r.place = outbox.id);

-- name: homeless_item
SELECT r.id, r.type, r.list, r.present, r.created_at, r.rank, r.title, r.data, r.attachments,
    r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending, r.offered, r.tried FROM item r WHERE
    r.pending <> 0 AND r.place IS NULL LIMIT ?1;

-- name: astray_grp
UPDATE grp AS r SET place = NULL WHERE r.place IS NOT NULL AND (r.pending = 0 OR NOT EXISTS
    (SELECT 1 FROM outbox o WHERE o.id = r.place AND o.a = r.grp));

-- name: vacant_grp
DELETE FROM outbox WHERE id > ?1 AND id < ?2 AND NOT EXISTS (SELECT 1 FROM grp r WHERE r.grp =
    outbox.a AND r.place = outbox.id);

-- name: homeless_grp
SELECT r.grp, r.name, r.owner, r.joining, r.deleted, r.stamp, r.stamps, r.extra, r.seq, r.place,
    r.pending, r.offered, r.tried FROM grp r WHERE r.pending <> 0 AND r.place IS NULL LIMIT ?1;

-- name: astray_member
UPDATE member AS r SET place = NULL WHERE r.place IS NOT NULL AND (r.pending = 0 OR NOT EXISTS
    (SELECT 1 FROM outbox o WHERE o.id = r.place AND o.a = r.grp AND o.b = r.user));

-- name: vacant_member
DELETE FROM outbox WHERE id > ?1 AND id < ?2 AND NOT EXISTS (SELECT 1 FROM member r WHERE r.grp
    = outbox.a AND r.user = outbox.b AND r.place = outbox.id);

-- name: homeless_member
SELECT r.grp, r.user, r.present, r.role, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending,
    r.offered, r.tried FROM member r WHERE r.pending <> 0 AND r.place IS NULL LIMIT ?1;

-- name: astray_other
UPDATE other AS r SET place = NULL WHERE r.place IS NOT NULL AND (r.pending = 0 OR NOT EXISTS
    (SELECT 1 FROM outbox o WHERE o.id = r.place AND o.a = r.grp AND o.b = r.collection AND o.c
    = r.a AND o.d = r.b AND o.e = r.c AND o.f = r.parts));

-- name: vacant_other
DELETE FROM outbox WHERE id > ?1 AND id < ?2 AND NOT EXISTS (SELECT 1 FROM other r WHERE r.grp =
    outbox.a AND r.collection = outbox.b AND r.a = outbox.c AND r.b = outbox.d AND r.c =
    outbox.e AND r.parts = outbox.f AND r.place = outbox.id);

-- name: homeless_other
SELECT r.grp, r.collection, r.a, r.b, r.c, r.parts, r.stamp, r.stamps, r.extra, r.seq, r.place,
    r.pending, r.offered, r.tried FROM other r WHERE r.pending <> 0 AND r.place IS NULL LIMIT ?1;
