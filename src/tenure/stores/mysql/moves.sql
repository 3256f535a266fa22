-- name: pick_jobs
-- One chunk of an operator's move, in id order from behind the last one.
SELECT id FROM tenure_jobs WHERE id > :after {where} ORDER BY id LIMIT :limit

-- name: lock_jobs
-- Those of the chunk that still match. What they are now, they are until the end of the move.
SELECT id, state FROM tenure_jobs FORCE INDEX (PRIMARY) WHERE id IN :picked {where}
ORDER BY id FOR UPDATE

-- name: move_cancel
-- Waiting, failed and dead jobs end at once. The fence grows, so that no earlier holder returns.
SELECT id, fence + 1 FROM tenure_jobs FORCE INDEX (PRIMARY)
WHERE id IN :ids AND state IN (0, 3, 4)
ORDER BY id FOR UPDATE;
UPDATE tenure_jobs FORCE INDEX (PRIMARY)
SET state = 5, reason = 'canceled', finished_at = {now}, fence = fence + 1
WHERE id IN :ids

-- name: move_request_cancel
-- A running job is asked to stop; its holder settles it, or whoever recovers it.
SELECT id, fence FROM tenure_jobs FORCE INDEX (PRIMARY)
WHERE id IN :ids AND state = 1 ORDER BY id FOR UPDATE;
UPDATE tenure_jobs FORCE INDEX (PRIMARY)
SET cancel_requested = 1 WHERE id IN :ids

-- name: move_retry
-- A finished job starts anew, a waiting one runs now. Not where another live job has its key, nor
-- where an earlier one of this chunk is about to get it. `state` is set last: MySQL reads what the
-- same statement has just written.
SELECT j.id, j.fence + 1 FROM tenure_jobs j FORCE INDEX (PRIMARY)
WHERE j.id IN :ids AND j.state IN (0, 3, 4, 5, 6, 7)
    AND NOT EXISTS (SELECT 1 FROM tenure_jobs o
        WHERE o.live_key = j.unique_key AND o.tenant = j.tenant AND o.kind = j.kind
            AND o.id <> j.id)
    AND NOT EXISTS (SELECT 1 FROM tenure_jobs e
        WHERE e.id IN :ids AND e.id < j.id AND e.state >= 3
            AND e.unique_key = j.unique_key AND e.tenant = j.tenant AND e.kind = j.kind)
ORDER BY j.id FOR UPDATE;
UPDATE tenure_jobs FORCE INDEX (PRIMARY)
SET fence = fence + 1, run_at = {now},
    attempt = CASE WHEN state = 0 THEN attempt ELSE 0 END,
    snoozes = CASE WHEN state = 0 THEN snoozes ELSE 0 END,
    refunds = CASE WHEN state = 0 THEN refunds ELSE 0 END,
    cancel_requested = 0, reason = NULL, result = NULL, progress = NULL, progress_note = NULL,
    finished_at = NULL, expires_at = NULL, state = 0
WHERE id IN :ids

-- name: move_reprioritise
SELECT id, fence + 1 FROM tenure_jobs FORCE INDEX (PRIMARY)
WHERE id IN :ids AND state = 0 ORDER BY id FOR UPDATE;
UPDATE tenure_jobs FORCE INDEX (PRIMARY)
SET priority = :priority, fence = fence + 1 WHERE id IN :ids

-- name: purge_edge
-- How far a chunk walks, whatever it finds; and when that job was created.
SELECT id, created_at FROM tenure_jobs WHERE id > :after {where}
ORDER BY id LIMIT 1 OFFSET :walked

-- name: pick_purgeable
-- Finished jobs within the walk; failed and dead ones stay unless the filter names them.
SELECT id FROM tenure_jobs WHERE id > :after AND id <= :edge
    AND finished_at < :before AND state IN :purgeable {where}
ORDER BY id LIMIT :limit

-- name: purge_jobs
-- Those that are still finished. Two that purge at once do not wait for each other.
SELECT id FROM tenure_jobs FORCE INDEX (PRIMARY)
WHERE id IN :ids AND finished_at < :before AND state IN :purgeable
ORDER BY id FOR UPDATE SKIP LOCKED;
DELETE j FROM tenure_jobs j FORCE INDEX (PRIMARY) WHERE j.id IN :ids

-- name: purge_history
DELETE FROM tenure_attempts WHERE job_id IN :ids

-- name: purge_logs
DELETE FROM tenure_logs WHERE job_id IN :ids

-- name: purge_payloads
DELETE FROM tenure_payloads WHERE job_id IN :ids

-- name: purge_windows
-- A key outlives its job; it goes when its window is over, unless somebody takes it right now.
SELECT until FROM tenure_keys WHERE until <= {now}
ORDER BY until LIMIT :limit FOR UPDATE SKIP LOCKED;
DELETE FROM tenure_keys WHERE until IN :ids ORDER BY until LIMIT :limit

-- name: list_queues
SELECT name, paused, paused_at, paused_by FROM tenure_queues ORDER BY name

-- name: pause_queue
-- `paused` is set last: MySQL reads what the same statement has just written.
INSERT INTO tenure_queues (name, paused, paused_at, paused_by)
VALUES (:name, :paused, {now}, :actor)
ON DUPLICATE KEY UPDATE paused_at = IF(paused <> :paused, {now}, paused_at),
    paused_by = IF(paused <> :paused, :actor, paused_by), paused = :paused

-- name: acquire_lock
-- A lock nobody holds now; its fence grows with every holder. The row is made first, so that two
-- newcomers meet at its lock.
INSERT INTO tenure_locks (name, owner, fence, until) VALUES (:name, :owner, 0, 0)
ON DUPLICATE KEY UPDATE fence = fence;
SELECT fence + 1 FROM tenure_locks WHERE name = :name AND until <= {now} FOR UPDATE;
UPDATE tenure_locks SET owner = :owner, fence = fence + 1, until = {now} + :lease
WHERE name = :name AND fence + 1 IN :ids

-- name: renew_lock
SELECT fence FROM tenure_locks
WHERE name = :name AND fence = :fence AND until > {now} FOR UPDATE;
UPDATE tenure_locks SET until = {now} + :lease WHERE name = :name AND fence IN :ids

-- name: release_lock
SELECT fence FROM tenure_locks WHERE name = :name AND fence = :fence AND until > 0 FOR UPDATE;
UPDATE tenure_locks SET until = 0 WHERE name = :name AND fence IN :ids

-- name: list_locks
SELECT name, owner, fence, until FROM tenure_locks WHERE until > {now} ORDER BY name

-- name: create_record
-- Version 0 is never committed: it tells our new row from one that was there.
INSERT INTO tenure_records (collection, name, version, data, updated_at)
VALUES (:collection, :name, 0, :data, {now})
ON DUPLICATE KEY UPDATE version = version;
SELECT version + 1 FROM tenure_records
WHERE collection = :collection AND name = :name AND version = 0 FOR UPDATE;
UPDATE tenure_records SET version = 1
WHERE collection = :collection AND name = :name AND version + 1 IN :ids

-- name: update_record
SELECT version + 1 FROM tenure_records
WHERE collection = :collection AND name = :name AND version = :version FOR UPDATE;
UPDATE tenure_records SET version = version + 1, data = :data, updated_at = {now}
WHERE collection = :collection AND name = :name AND version + 1 IN :ids

-- name: upsert_record
INSERT INTO tenure_records (collection, name, version, data, updated_at)
VALUES (:collection, :name, 1, :data, {now})
ON DUPLICATE KEY UPDATE version = version + 1, data = :data, updated_at = {now}

-- name: find_record
SELECT collection, name, version, data, updated_at FROM tenure_records
WHERE collection = :collection AND name = :name

-- name: find_records
SELECT collection, name, version, data, updated_at FROM tenure_records
WHERE collection = :collection AND name IN :names

-- name: list_records
SELECT collection, name, version, data, updated_at FROM tenure_records
WHERE collection = :collection AND name > :after ORDER BY name LIMIT :limit

-- name: remove_record
SELECT name FROM tenure_records WHERE collection = :collection AND name = :name FOR UPDATE;
DELETE FROM tenure_records WHERE collection = :collection AND name = :name
