-- Dead letters, and the outbox backwards; forwards it stands in row.sql.

-- name: rejected_insert
INSERT INTO rejected (code, reason, at_ms, scope, key, fields, extra)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: rejected_get
SELECT id, code, reason, at_ms, scope, key, fields, extra FROM rejected WHERE id = ?1;

-- name: rejected_after
SELECT id, code, reason, at_ms, scope, key, fields, extra FROM rejected WHERE id > ?1
    ORDER BY id LIMIT ?2;

-- name: rejected_before
SELECT id, code, reason, at_ms, scope, key, fields, extra FROM rejected WHERE id < ?1
    ORDER BY id DESC LIMIT ?2;

-- name: rejected_remove
DELETE FROM rejected WHERE id = ?1;

-- name: rejected_has
SELECT 1 FROM rejected WHERE scope = ?1 AND key = ?2 LIMIT 1;

-- The outbox backwards, for listing it.

-- name: follow_waiting_back
SELECT kind, target, present, stamp, stamps, extra, seq, pending, offered, tried FROM follow
    INDEXED BY follow_pending WHERE pending <> 0 AND (kind, target) < (?1, ?2) ORDER BY kind
    DESC, target DESC LIMIT ?3;

-- name: mygroup_waiting_back
SELECT grp, present, role, stamp, stamps, extra, seq, pending, offered, tried FROM mygroup
    INDEXED BY mygroup_pending WHERE pending <> 0 AND grp < ?1 ORDER BY grp DESC LIMIT ?2;

-- name: list_waiting_back
SELECT list, name, rank, deleted, stamp, stamps, extra, seq, pending, offered, tried FROM list
    INDEXED BY list_pending WHERE pending <> 0 AND list < ?1 ORDER BY list DESC LIMIT ?2;

-- name: item_waiting_back
SELECT type, id, list, present, created_at, rank, title, data, attachments, stamp, stamps,
    extra, seq, pending, offered, tried FROM item INDEXED BY item_pending WHERE pending <> 0 AND
    (type, id, list) < (?1, ?2, ?3) ORDER BY type DESC, id DESC, list DESC LIMIT ?4;

-- name: grp_waiting_back
SELECT grp, name, owner, joining, deleted, stamp, stamps, extra, seq, pending, offered, tried
    FROM grp INDEXED BY grp_pending WHERE pending <> 0 AND grp < ?1 ORDER BY grp DESC LIMIT ?2;

-- name: member_waiting_back
SELECT grp, user, present, role, stamp, stamps, extra, seq, pending, offered, tried FROM member
    INDEXED BY member_pending WHERE pending <> 0 AND (grp, user) < (?1, ?2) AND user <> ?4 ORDER
    BY grp DESC, user DESC LIMIT ?3;

-- name: member_waiting_own_back
SELECT grp, user, present, role, stamp, stamps, extra, seq, pending, offered, tried FROM member
    INDEXED BY member_pending WHERE pending <> 0 AND (grp, user) < (?1, ?2) AND user = ?4 ORDER
    BY grp DESC, user DESC LIMIT ?3;
