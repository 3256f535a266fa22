-- fragment: now
-- The store's clock in microseconds. Milliseconds are the best SQLite 3.40 offers.
CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000

-- name: add_job
-- One job without a unique key: what most callers add.
INSERT INTO tenure_jobs (kind, queue, priority, tenant, owner, payload, run_at, expires_at,
    max_attempts, correlation_id, trace, enqueued_by, ordering_key, bucket, batch_id, seq,
    unplaced, created_at)
VALUES (:kind, :queue, :priority, :tenant, :owner, :payload, coalesce(:run_at, {now} + :delay),
    coalesce(:expires_at, {now} + :expires_delay), :max_attempts, :correlation_id, :trace,
    :enqueued_by, :ordering_key, :bucket, :batch_id, :seq, :unplaced, {now})
RETURNING id

-- name: add_like_jobs
-- Jobs that differ in their payload alone: what they share is sent and read once.
INSERT INTO tenure_jobs (kind, queue, priority, tenant, owner, payload, run_at, expires_at,
    max_attempts, correlation_id, trace, enqueued_by, ordering_key, bucket, batch_id, seq,
    unplaced, created_at)
SELECT :kind, :queue, :priority, :tenant, :owner, value ->> 0, coalesce(:run_at, {now} + :delay),
    coalesce(:expires_at, {now} + :expires_delay), :max_attempts, :correlation_id, :trace,
    :enqueued_by, :ordering_key, :bucket, :batch_id, :seq, :unplaced, {now}
FROM json_each(:rows) WHERE true ORDER BY key
RETURNING id

-- name: add_jobs
-- Jobs without a unique key, in one statement; ids come back in the order of the rows.
INSERT INTO tenure_jobs (kind, queue, priority, tenant, owner, payload, run_at, expires_at,
    max_attempts, correlation_id, trace, enqueued_by, ordering_key, bucket, batch_id, seq,
    unplaced, created_at)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
    coalesce(value ->> 6, {now} + (value ->> 7)), coalesce(value ->> 8, {now} + (value ->> 9)),
    value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15,
    value ->> 16, value ->> 17, value ->> 18, {now}
FROM json_each(:rows) WHERE true ORDER BY key
RETURNING id

-- name: add_keyed_jobs
-- The unique index decides, whatever the concurrency; what comes back was created.
INSERT INTO tenure_jobs (kind, queue, priority, tenant, owner, payload, run_at, expires_at,
    max_attempts, correlation_id, trace, enqueued_by, ordering_key, bucket, batch_id, seq,
    unplaced, unique_key, payload_hash, created_at)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
    coalesce(value ->> 6, {now} + (value ->> 7)), coalesce(value ->> 8, {now} + (value ->> 9)),
    value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15,
    value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20, {now}
FROM json_each(:rows) WHERE true ORDER BY key
ON CONFLICT (tenant, kind, unique_key) WHERE unique_key IS NOT NULL AND state IN (0, 1)
DO NOTHING
RETURNING id, tenant, kind, unique_key

-- name: find_keyed_jobs
-- Who holds these keys now.
SELECT j.id, j.tenant, j.kind, j.unique_key, j.payload_hash, j.state
FROM json_each(:rows) r CROSS JOIN tenure_jobs j
WHERE j.tenant = r.value ->> 0 AND j.kind = r.value ->> 1 AND j.unique_key = r.value ->> 2
    AND j.unique_key IS NOT NULL AND j.state IN (0, 1)

-- name: lock_waiting
-- Ours to change until the end of the transaction, if it still waits.
SELECT id FROM tenure_jobs WHERE id = :id AND state = 0

-- name: add_payloads
-- Large payloads live beside the row, which is written at every claim and settle.
INSERT INTO tenure_payloads (job_id, payload)
SELECT value ->> 0, value ->> 1 FROM json_each(:rows)

-- name: read_payloads
SELECT job_id, payload FROM tenure_payloads WHERE job_id IN (SELECT value FROM json_each(:ids))

-- name: replace_job
-- Only a job that still waits can take another payload.
UPDATE tenure_jobs SET payload = :payload, payload_hash = :payload_hash, priority = :priority,
    run_at = coalesce(:run_at, CASE WHEN :debounce THEN {now} + :delay ELSE run_at END)
WHERE id = :id AND state = 0
RETURNING id

-- name: take_windows
-- A key with a window is free when nobody has it or its window is over.
INSERT INTO tenure_keys (tenant, kind, unique_key, payload_hash, job_id, until)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, NULL, {now} + (value ->> 4)
FROM json_each(:rows) WHERE true
ON CONFLICT (tenant, kind, unique_key) DO UPDATE
SET payload_hash = excluded.payload_hash, job_id = NULL, until = excluded.until
WHERE tenure_keys.until <= {now}
RETURNING tenant, kind, unique_key

-- name: find_windows
-- Who has these keys, with what, and in which state the job is while it is still kept.
SELECT k.job_id, k.tenant, k.kind, k.unique_key, k.payload_hash, coalesce(j.state, 2)
FROM json_each(:rows) r CROSS JOIN tenure_keys k LEFT JOIN tenure_jobs j ON j.id = k.job_id
WHERE k.tenant = r.value ->> 0 AND k.kind = r.value ->> 1 AND k.unique_key = r.value ->> 2

-- name: bind_windows
-- The key now names its job.
UPDATE tenure_keys SET job_id = r.value ->> 3 FROM json_each(:rows) r
WHERE tenure_keys.tenant = r.value ->> 0 AND tenure_keys.kind = r.value ->> 1
    AND tenure_keys.unique_key = r.value ->> 2

-- name: rehash_windows
-- The waiting job has another payload now; the key must know it.
UPDATE tenure_keys SET payload_hash = r.value ->> 3 FROM json_each(:rows) r
WHERE tenure_keys.tenant = r.value ->> 0 AND tenure_keys.kind = r.value ->> 1
    AND tenure_keys.unique_key = r.value ->> 2

-- name: drop_windows
-- Undo of take_windows when another job of the same call is refused.
DELETE FROM tenure_keys WHERE (tenant, kind, unique_key) IN
    (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(:rows))

-- name: drop_added
-- Undo of add when another job of the same call is refused: none of them may stay.
DELETE FROM tenure_jobs WHERE id IN (SELECT value FROM json_each(:ids))

-- name: extend_leases
-- Only what is still held; the answer also carries the news of a cancel.
UPDATE tenure_jobs SET lease_until = {now} + :lease
FROM (SELECT value ->> 0 AS id, value ->> 1 AS fence FROM json_each(:rows)) s
WHERE tenure_jobs.id = s.id AND tenure_jobs.fence = s.fence AND +tenure_jobs.state = 1
RETURNING tenure_jobs.id, tenure_jobs.cancel_requested

-- name: report_progress
-- Only the present holder may speak for the job.
UPDATE tenure_jobs SET progress = coalesce(s.progress, tenure_jobs.progress),
    progress_note = coalesce(s.note, tenure_jobs.progress_note)
FROM (SELECT value ->> 0 AS id, value ->> 1 AS fence, value ->> 2 AS progress, value ->> 3 AS note
    FROM json_each(:rows)) s
WHERE tenure_jobs.id = s.id AND tenure_jobs.fence = s.fence AND +tenure_jobs.state = 1
RETURNING tenure_jobs.id

-- name: mark_begun
-- Claimed ahead, and begun a moment ago; or about to begin with nothing beside it.
UPDATE tenure_jobs SET standing = s.standing, started_at = {now} - s.ago
FROM (SELECT value ->> 0 AS id, value ->> 1 AS fence, value ->> 2 AS ago, value ->> 3 AS standing
    FROM json_each(:rows)) s
WHERE tenure_jobs.id = s.id AND tenure_jobs.fence = s.fence AND +tenure_jobs.state = 1
    AND tenure_jobs.standing <> 0
RETURNING tenure_jobs.id

-- name: held_leases
-- Which of these still hold, whoever has their rows locked.
SELECT j.id FROM json_each(:rows) r CROSS JOIN tenure_jobs j
WHERE j.id = r.value ->> 0 AND j.fence = r.value ->> 1 AND +j.state = 1

-- name: add_logs
-- Lines of jobs whose fence report_progress has just checked in this transaction.
INSERT INTO tenure_logs (job_id, fence, at, level, message)
SELECT value ->> 0, value ->> 1, coalesce(value ->> 2, {now}), value ->> 3, value ->> 4
FROM json_each(:rows) WHERE true ORDER BY key

-- fragment: where_now
-- Nobody else can have locked a row: the one writer is us.

-- name: lock_free
-- All of them: the one writer is us.
SELECT id FROM tenure_jobs WHERE id IN (SELECT value FROM json_each(:ids))

-- name: settle_done
-- counted
-- Successes without a result that nobody waits for, all under one fence. Only the present holder may settle.
UPDATE tenure_jobs SET state = 2, finished_at = {now}, lease_until = NULL, reason = NULL, result = NULL
WHERE id IN (SELECT value FROM json_each(:ids)) AND fence = :fence AND +state = 1
    AND chained = 0 {where}
RETURNING id

-- name: return_jobs
-- Claimed and not begun: back to their place in the queue, as if they had not been claimed. One that is to be cancelled
-- is left to settle_jobs.
UPDATE tenure_jobs SET state = 0, attempt = attempt - 1, lease_until = NULL,
    standing = CASE WHEN standing >= 2 THEN 2 ELSE 0 END,
    started_at = CASE WHEN attempt + refunds + snoozes > 1 THEN started_at END
FROM (SELECT value ->> 0 AS id, value ->> 1 AS fence FROM json_each(:rows)) s
WHERE tenure_jobs.id = s.id AND tenure_jobs.fence = s.fence AND +tenure_jobs.state = 1
    AND cancel_requested = 0
RETURNING tenure_jobs.id, queue, priority, tenant, limit_key

-- name: settle_jobs
-- Only the present holder may settle: the fence decides, not the id. A cancel that was asked for
-- meanwhile turns a requeue into the end.
UPDATE tenure_jobs SET
    state = CASE WHEN s.state = 0 AND cancel_requested = 1 THEN 5 ELSE s.state END,
    reason = CASE WHEN s.state = 0 AND cancel_requested = 1 THEN 'canceled' ELSE s.reason END,
    finished_at = CASE WHEN s.state = 0 AND cancel_requested = 0 THEN NULL ELSE {now} END,
    run_at = CASE WHEN s.state = 0 THEN {now} + s.delay ELSE run_at END,
    attempt = attempt - s.refund, refunds = refunds + s.refund - s.snooze,
    snoozes = snoozes + s.snooze, crashes = crashes + s.crash, standing = 2 * s.crash,
    result = s.result, lease_until = NULL
FROM (SELECT value ->> 0 AS id, value ->> 1 AS fence, value ->> 2 AS state, value ->> 3 AS delay,
        value ->> 4 AS result, value ->> 5 AS reason, value ->> 6 AS refund, value ->> 7 AS snooze,
        value ->> 8 AS crash
    FROM json_each(:rows)) s
WHERE tenure_jobs.id = s.id AND tenure_jobs.fence = s.fence AND +tenure_jobs.state = 1
    AND (tenure_jobs.chained = 0 OR :tied = 1) {where}
RETURNING tenure_jobs.id

-- name: add_history
-- One line per (job, fence): what did not simply succeed, and operators' moves.
INSERT INTO tenure_attempts (job_id, fence, attempt, entry, worker, started_at, finished_at,
    failure, error_group)
SELECT j.id, r.value ->> 1, j.attempt + (r.value ->> 2), r.value ->> 3,
    coalesce(r.value ->> 4, j.lease_owner),
    CASE WHEN r.value ->> 4 IS NULL THEN j.started_at END, {now}, r.value ->> 5, r.value ->> 6
FROM json_each(:rows) r CROSS JOIN tenure_jobs j WHERE j.id = r.value ->> 0
ON CONFLICT (job_id, fence) DO NOTHING

-- name: credit_leases
-- Our transaction kept every renewal out for so long: leases that were alive are given that back.
UPDATE tenure_jobs SET lease_until = lease_until + :held
WHERE state = 1 AND lease_until >= {now} - :held
