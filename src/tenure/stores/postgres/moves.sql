-- name: pick_jobs
-- One chunk of an operator's move, in id order from behind the last one.
SELECT id FROM tenure_jobs WHERE id > :after::bigint {where}
ORDER BY id LIMIT :limit::bigint

-- name: lock_jobs
-- Those of the chunk that still match. What they are now, they are until the end of the move.
SELECT id, state FROM tenure_jobs WHERE id = ANY(:picked::bigint[]) {where}
ORDER BY id FOR UPDATE

-- name: move_cancel
-- Waiting, failed and dead jobs end at once. The fence grows, so that no earlier holder returns.
UPDATE tenure_jobs SET state = 5, reason = 'canceled', finished_at = {now}, fence = fence + 1
WHERE id = ANY(:ids::bigint[]) AND state + 0 IN (0, 3, 4)
RETURNING id, fence

-- name: move_request_cancel
-- A running job is asked to stop; its holder settles it, or whoever recovers it.
UPDATE tenure_jobs SET cancel_requested = 1
WHERE id = ANY(:ids::bigint[]) AND state + 0 = 1
RETURNING id, fence

-- name: move_retry
-- A finished job starts anew, a waiting one runs now. Not where another live job has its key, nor
-- where an earlier one of this chunk is about to get it.
UPDATE tenure_jobs SET state = 0, fence = fence + 1, run_at = {now},
    attempt = CASE WHEN state = 0 THEN attempt ELSE 0 END,
    snoozes = CASE WHEN state = 0 THEN snoozes ELSE 0 END,
    refunds = CASE WHEN state = 0 THEN refunds ELSE 0 END,
    cancel_requested = 0, reason = NULL, result = NULL, progress = NULL, progress_note = NULL,
    finished_at = NULL, expires_at = NULL
WHERE id = ANY(:ids::bigint[]) AND state + 0 IN (0, 3, 4, 5, 6, 7)
    AND NOT EXISTS (SELECT 1 FROM tenure_jobs o
        WHERE tenure_jobs.unique_key IS NOT NULL AND o.unique_key = tenure_jobs.unique_key
            AND o.tenant = tenure_jobs.tenant AND o.kind = tenure_jobs.kind
            AND o.unique_key IS NOT NULL AND o.state IN (0, 1) AND o.id <> tenure_jobs.id)
    AND NOT EXISTS (SELECT 1 FROM tenure_jobs e
        WHERE e.id = ANY(:ids::bigint[]) AND e.id < tenure_jobs.id AND e.state + 0 >= 3
            AND e.unique_key = tenure_jobs.unique_key AND e.tenant = tenure_jobs.tenant
            AND e.kind = tenure_jobs.kind)
RETURNING id, fence

-- name: move_reprioritise
UPDATE tenure_jobs SET priority = :priority::int, fence = fence + 1
WHERE id = ANY(:ids::bigint[]) AND state + 0 = 0
RETURNING id, fence

-- name: purge_edge
-- How far a chunk walks, whatever it finds; and when that job was created.
SELECT id, created_at FROM tenure_jobs WHERE id > :after::bigint {where}
ORDER BY id LIMIT 1 OFFSET :walked::bigint

-- name: pick_purgeable
-- Finished jobs within the walk; failed and dead ones stay unless the filter names them.
SELECT id FROM tenure_jobs WHERE id > :after::bigint AND id <= :edge::bigint
    AND finished_at < :before::bigint AND state = ANY(:purgeable::smallint[]) {where}
ORDER BY id LIMIT :limit::bigint

-- name: purge_jobs
-- Those that are still finished. Two that purge at once do not wait for each other.
DELETE FROM tenure_jobs WHERE id = ANY(ARRAY(SELECT id FROM tenure_jobs
    WHERE id = ANY(:ids::bigint[]) AND finished_at < :before::bigint
        AND state = ANY(:purgeable::smallint[]) FOR UPDATE SKIP LOCKED))
RETURNING id

-- name: purge_history
DELETE FROM tenure_attempts WHERE job_id = ANY(:ids::bigint[])

-- name: purge_logs
DELETE FROM tenure_logs WHERE job_id = ANY(:ids::bigint[])

-- name: purge_payloads
DELETE FROM tenure_payloads WHERE job_id = ANY(:ids::bigint[])

-- name: purge_windows
-- A key outlives its job; it goes when its window is over, unless somebody takes it right now.
DELETE FROM tenure_keys WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM tenure_keys WHERE until <= {now}
    ORDER BY until LIMIT :limit::bigint FOR UPDATE SKIP LOCKED))
RETURNING until

-- name: list_queues
SELECT name, paused, paused_at, paused_by FROM tenure_queues ORDER BY name

-- name: pause_queue
INSERT INTO tenure_queues (name, paused, paused_at, paused_by)
VALUES (:name::text, :paused::smallint, {now}, :actor::text)
ON CONFLICT (name) DO UPDATE SET paused = excluded.paused, paused_at = excluded.paused_at,
    paused_by = excluded.paused_by
WHERE tenure_queues.paused <> excluded.paused

-- name: acquire_lock
-- A lock nobody holds now; its fence grows with every holder.
INSERT INTO tenure_locks (name, owner, fence, until)
VALUES (:name::text, :owner::text, 1, {now} + :lease::bigint)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, fence = tenure_locks.fence + 1,
    until = excluded.until
WHERE tenure_locks.until <= {now}
RETURNING fence

-- name: renew_lock
UPDATE tenure_locks SET until = {now} + :lease::bigint
WHERE name = :name::text AND fence = :fence::bigint AND until > {now}
RETURNING fence

-- name: release_lock
UPDATE tenure_locks SET until = 0
WHERE name = :name::text AND fence = :fence::bigint AND until > 0
RETURNING fence

-- name: list_locks
SELECT name, owner, fence, until FROM tenure_locks WHERE until > {now} ORDER BY name

-- name: create_record
INSERT INTO tenure_records (collection, name, version, data, updated_at)
VALUES (:collection::text, :name::text, 1, :data::text, {now})
ON CONFLICT (collection, name) DO NOTHING
RETURNING version

-- name: update_record
UPDATE tenure_records SET version = version + 1, data = :data::text, updated_at = {now}
WHERE collection = :collection::text AND name = :name::text AND version = :version::bigint
RETURNING version

-- name: upsert_record
INSERT INTO tenure_records (collection, name, version, data, updated_at)
VALUES (:collection::text, :name::text, 1, :data::text, {now})
ON CONFLICT (collection, name) DO UPDATE SET version = tenure_records.version + 1,
    data = excluded.data, updated_at = excluded.updated_at

-- name: find_record
SELECT collection, name, version, data, updated_at FROM tenure_records
WHERE collection = :collection::text AND name = :name::text

-- name: find_records
SELECT collection, name, version, data, updated_at FROM tenure_records
WHERE collection = :collection::text AND name = ANY(:names::text[])

-- name: list_records
SELECT collection, name, version, data, updated_at FROM tenure_records
WHERE collection = :collection::text AND name > :after::text ORDER BY name LIMIT :limit::bigint

-- name: remove_record
DELETE FROM tenure_records WHERE collection = :collection::text AND name = :name::text
RETURNING name
