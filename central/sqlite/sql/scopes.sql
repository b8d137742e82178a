-- What is not a record.

-- name: scope_id
SELECT id FROM scopes WHERE name = ?1;

-- name: scope_add
INSERT OR IGNORE INTO scopes (name) VALUES (?1);

-- name: scope_hint
SELECT head, touched FROM scopes WHERE name = ?1;

-- name: scope_raise_hint
UPDATE scopes SET head = max(head, ?2), touched = max(touched, ?3) WHERE id = ?1;

-- name: scope_touched
SELECT name, head, touched FROM scopes WHERE touched >= ?1 ORDER BY touched DESC LIMIT ?2;

-- name: scope_floor
SELECT floor FROM scopes WHERE name = ?1;

-- name: scope_raise_floor
UPDATE scopes SET floor = max(floor, ?2) WHERE id = ?1;

-- name: scope_names
SELECT name FROM scopes WHERE name > ?1 ORDER BY name LIMIT ?2;

-- name: epoch_newest
SELECT number, id FROM epochs ORDER BY number DESC LIMIT 1;

-- name: epoch_insert
INSERT OR IGNORE INTO epochs (number, id) VALUES (?1, ?2);

-- name: base_get
SELECT seq FROM bases WHERE epoch = ?1 AND scope = ?2;

-- name: base_note
INSERT OR IGNORE INTO bases (scope, epoch, seq) VALUES (?1, ?2, ?3);

-- name: lease_newest
SELECT number, until, holder FROM leases WHERE name = ?1 ORDER BY number DESC LIMIT 1;

-- name: lease_insert
INSERT OR IGNORE INTO leases (name, number, holder, until) VALUES (?1, ?2, ?3, ?4);

-- name: lease_end
UPDATE leases SET until = ?3 WHERE name = ?1 AND number = ?2;

-- name: lease_drop
DELETE FROM leases WHERE name = ?1 AND number < ?2;
