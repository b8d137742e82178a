-- Status, wipe, and tombstones that are old enough to go.

-- What a rebuild offers only was not edited here: it stands in the odd ranges of 2^48 numbers.
-- name: status_pending
SELECT count(*) FROM outbox WHERE id < ?1 AND (id >> 48) & 1 = 0;

-- name: status_rejected
SELECT count(*) FROM rejected;

-- name: status_following
SELECT count(*) FROM follow WHERE present = 1;

-- name: status_lists
SELECT count(*), ifnull(sum(o.a), 0)
    FROM list l LEFT JOIN outbox o ON o.id = 4611686018427387904 + l.list WHERE l.deleted = 0;

-- name: status_synced
SELECT complete_ms FROM scope WHERE scope = ?1;

-- name: wipe_follow
DELETE FROM follow;

-- name: wipe_mygroup
DELETE FROM mygroup;

-- name: wipe_list
DELETE FROM list;

-- name: wipe_item
DELETE FROM item;

-- name: wipe_grp
DELETE FROM grp;

-- name: wipe_member
DELETE FROM member;

-- name: wipe_other
DELETE FROM other;

-- name: wipe_outbox
DELETE FROM outbox;

-- name: wipe_scope
DELETE FROM scope;

-- name: wipe_seen
DELETE FROM seen;

-- name: wipe_rejected
DELETE FROM rejected;

-- All but the owner, whose number stays.
-- name: wipe_name
DELETE FROM name WHERE id <> ?1;

-- name: wipe_setting
DELETE FROM setting WHERE name NOT IN ('owner', 'device', 'search', 'clock_bound',
    'clock_offset_ms');

-- Tombstones older than ?1 that central has, at most ?2; a newer unknown field is for C to see.

-- name: follow_dead
SELECT r.kind, r.target, r.present, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending, r.offered,
    r.tried FROM follow r WHERE r.present IS NOT 1 AND r.pending = 0 AND r.seq <> 0 AND r.stamp
    < ?1 LIMIT ?2;

-- name: mygroup_dead
SELECT r.grp, r.present, r.role, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending, r.offered,
    r.tried FROM mygroup r WHERE r.present IS NOT 1 AND r.pending = 0 AND r.seq <> 0 AND r.stamp
    < ?1 LIMIT ?2;

-- name: item_dead
SELECT r.id, r.type, r.list, r.present, r.created_at, r.rank, r.title, r.data, r.attachments,
    r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending, r.offered, r.tried FROM item r WHERE r.present
    IS NOT 1 AND r.pending = 0 AND r.seq <> 0 AND r.stamp < ?1 LIMIT ?2;

-- name: member_dead
SELECT r.grp, r.user, r.present, r.role, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending,
    r.offered, r.tried FROM member r WHERE r.present IS NOT 1 AND r.pending = 0 AND r.seq <> 0
    AND r.stamp < ?1 LIMIT ?2;

-- A list goes with its items, once none of them is newer or waits.
-- name: list_dead
SELECT r.list, r.name, r.rank, r.deleted, r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending,
    r.offered, r.tried FROM list r WHERE r.deleted IS NOT 0 AND r.pending = 0 AND r.seq <> 0 AND
    r.stamp < ?1 AND NOT EXISTS (SELECT 1 FROM item i WHERE i.list = r.list AND (i.pending <> 0
    OR i.seq = 0 OR i.stamp >= ?1)) LIMIT ?2;

-- name: list_items
SELECT r.id, r.type, r.list, r.present, r.created_at, r.rank, r.title, r.data, r.attachments,
    r.stamp, r.stamps, r.extra, r.seq, r.place, r.pending, r.offered, r.tried FROM item r WHERE r.list =
    ?1 LIMIT ?2;

-- name: check_start
SAVEPOINT dunlin_check

-- name: check_undo
ROLLBACK TO dunlin_check

-- name: check_end
RELEASE dunlin_check
