-- fragment: clock
-- The clock at the statement, not at the transaction's start.
(extract(epoch FROM clock_timestamp()) * 1000000)::bigint

-- fragment: now
-- As a sub-select it can bound an index, and is read once for all rows.
(SELECT {clock})

-- name: add_job
-- One job without a unique key: what most callers add, and no array to take apart.
INSERT INTO tenure_jobs (kind, queue, priority, tenant, owner, payload, run_at, expires_at,
    max_attempts, correlation_id, trace, enqueued_by, ordering_key, bucket, batch_id, seq,
    unplaced, created_at)
VALUES (:kind::text, :queue::text, :priority::int, :tenant::text, :owner::text, :payload::text,
    coalesce(:run_at::bigint, {clock} + :delay::bigint),
    coalesce(:expires_at::bigint, {clock} + :expires_delay::bigint), :max_attempts::int,
    :correlation_id::text, :trace::text, :enqueued_by::text, :ordering_key::text, :bucket::int,
    :batch_id::bigint, :seq::bigint, :unplaced::smallint, {clock})
RETURNING id

-- name: add_like_jobs
-- Jobs that differ in their payload alone: what they share is sent and read once.
INSERT INTO tenure_jobs (kind, queue, priority, tenant, owner, payload, run_at, expires_at,
    max_attempts, correlation_id, trace, enqueued_by, ordering_key, bucket, batch_id, seq,
    unplaced, created_at)
SELECT :kind::text, :queue::text, :priority::int, :tenant::text, :owner::text, r.payload,
    coalesce(:run_at::bigint, {now} + :delay::bigint),
    coalesce(:expires_at::bigint, {now} + :expires_delay::bigint), :max_attempts::int,
    :correlation_id::text, :trace::text, :enqueued_by::text, :ordering_key::text, :bucket::int,
    :batch_id::bigint, :seq::bigint, :unplaced::smallint, {now}
FROM unnest(:payload::text[]) WITH ORDINALITY AS r (payload, place)
ORDER BY r.place
RETURNING id

-- name: add_jobs
-- Jobs without a unique key, in one statement; ids come back in the order of the rows.
INSERT INTO tenure_jobs (kind, queue, priority, tenant, owner, payload, run_at, expires_at,
    max_attempts, correlation_id, trace, enqueued_by, ordering_key, bucket, batch_id, seq,
    unplaced, created_at)
SELECT r.kind, r.queue, r.priority, r.tenant, r.owner, r.payload,
    coalesce(r.run_at, {now} + r.delay), coalesce(r.expires_at, {now} + r.expires_delay),
    r.max_attempts, r.correlation_id, r.trace, r.enqueued_by, r.ordering_key, r.bucket,
    r.batch_id, r.seq, r.unplaced, {now}
FROM unnest(:kind::text[], :queue::text[], :priority::int[], :tenant::text[], :owner::text[],
        :payload::text[], :run_at::bigint[], :delay::bigint[], :expires_at::bigint[],
        :expires_delay::bigint[], :max_attempts::int[], :correlation_id::text[], :trace::text[],
        :enqueued_by::text[], :ordering_key::text[], :bucket::int[], :batch_id::bigint[],
        :seq::bigint[], :unplaced::smallint[]) WITH ORDINALITY
    AS r (kind, queue, priority, tenant, owner, payload, run_at, delay, expires_at,
        expires_delay, max_attempts, correlation_id, trace, enqueued_by, ordering_key, bucket,
        batch_id, seq, unplaced, place)
ORDER BY r.place
RETURNING id

-- name: add_keyed_jobs
-- The unique index decides, whatever the concurrency; what comes back was created.
INSERT INTO tenure_jobs (kind, queue, priority, tenant, owner, payload, run_at, expires_at,
    max_attempts, correlation_id, trace, enqueued_by, ordering_key, bucket, batch_id, seq,
    unplaced, unique_key, payload_hash, created_at)
SELECT r.kind, r.queue, r.priority, r.tenant, r.owner, r.payload,
    coalesce(r.run_at, {now} + r.delay), coalesce(r.expires_at, {now} + r.expires_delay),
    r.max_attempts, r.correlation_id, r.trace, r.enqueued_by, r.ordering_key, r.bucket,
    r.batch_id, r.seq, r.unplaced, r.unique_key, r.payload_hash, {now}
FROM unnest(:kind::text[], :queue::text[], :priority::int[], :tenant::text[], :owner::text[],
        :payload::text[], :run_at::bigint[], :delay::bigint[], :expires_at::bigint[],
        :expires_delay::bigint[], :max_attempts::int[], :correlation_id::text[], :trace::text[],
        :enqueued_by::text[], :ordering_key::text[], :bucket::int[], :batch_id::bigint[],
        :seq::bigint[], :unplaced::smallint[], :unique_key::text[], :payload_hash::text[])
    WITH ORDINALITY
    AS r (kind, queue, priority, tenant, owner, payload, run_at, delay, expires_at,
        expires_delay, max_attempts, correlation_id, trace, enqueued_by, ordering_key, bucket,
        batch_id, seq, unplaced, unique_key, payload_hash, place)
ORDER BY r.place
ON CONFLICT (tenant, kind, unique_key) WHERE unique_key IS NOT NULL AND state IN (0, 1)
DO NOTHING
RETURNING id, tenant, kind, unique_key

-- name: find_keyed_jobs
-- Who holds these keys now.
SELECT j.id, j.tenant, j.kind, j.unique_key, j.payload_hash, j.state
FROM unnest(:tenant::text[], :kind::text[], :unique_key::text[]) AS r (tenant, kind, unique_key)
JOIN tenure_jobs j
    ON j.tenant = r.tenant AND j.kind = r.kind AND j.unique_key = r.unique_key
WHERE j.unique_key IS NOT NULL AND j.state IN (0, 1)

-- name: lock_waiting
-- Ours to change until the end of the transaction, if it still waits.
SELECT id FROM tenure_jobs WHERE id = :id::bigint AND state = 0 FOR UPDATE

-- name: add_payloads
-- Large payloads live beside the row, which is written at every claim and settle.
INSERT INTO tenure_payloads (job_id, payload)
SELECT * FROM unnest(:id::bigint[], :payload::text[])

-- name: read_payloads
SELECT job_id, payload FROM tenure_payloads WHERE job_id = ANY(:ids::bigint[])

-- name: replace_job
-- Only a job that still waits can take another payload.
UPDATE tenure_jobs SET payload = :payload::text, payload_hash = :payload_hash::text,
    priority = :priority::int,
    run_at = coalesce(:run_at::bigint,
        CASE WHEN :debounce::int = 1 THEN {now} + :delay::bigint ELSE run_at END)
WHERE id = :id::bigint AND state = 0
RETURNING id

-- name: take_windows
-- A key with a window is free when nobody has it or its window is over.
INSERT INTO tenure_keys (tenant, kind, unique_key, payload_hash, job_id, until)
SELECT r.tenant, r.kind, r.unique_key, r.payload_hash, NULL, {now} + r.lasts
FROM unnest(:tenant::text[], :kind::text[], :unique_key::text[], :payload_hash::text[],
        :window::bigint[])
    AS r (tenant, kind, unique_key, payload_hash, lasts)
ON CONFLICT (tenant, kind, unique_key) DO UPDATE
SET payload_hash = excluded.payload_hash, job_id = NULL, until = excluded.until
WHERE tenure_keys.until <= {now}
RETURNING tenant, kind, unique_key

-- name: find_windows
-- Who has these keys, with what, and in which state the job is while it is still kept.
SELECT k.job_id, k.tenant, k.kind, k.unique_key, k.payload_hash, coalesce(j.state, 2)
FROM unnest(:tenant::text[], :kind::text[], :unique_key::text[]) AS r (tenant, kind, unique_key)
JOIN tenure_keys k
    ON k.tenant = r.tenant AND k.kind = r.kind AND k.unique_key = r.unique_key
LEFT JOIN tenure_jobs j ON j.id = k.job_id

-- name: bind_windows
-- The key now names its job.
UPDATE tenure_keys k SET job_id = r.id
FROM unnest(:tenant::text[], :kind::text[], :unique_key::text[], :id::bigint[])
    AS r (tenant, kind, unique_key, id)
WHERE k.tenant = r.tenant AND k.kind = r.kind AND k.unique_key = r.unique_key

-- name: rehash_windows
-- The waiting job has another payload now; the key must know it.
UPDATE tenure_keys k SET payload_hash = r.payload_hash
FROM unnest(:tenant::text[], :kind::text[], :unique_key::text[], :payload_hash::text[])
    AS r (tenant, kind, unique_key, payload_hash)
WHERE k.tenant = r.tenant AND k.kind = r.kind AND k.unique_key = r.unique_key

-- name: drop_windows
-- Undo of take_windows when another job of the same call is refused.
DELETE FROM tenure_keys k
USING unnest(:tenant::text[], :kind::text[], :unique_key::text[]) AS r (tenant, kind, unique_key)
WHERE k.tenant = r.tenant AND k.kind = r.kind AND k.unique_key = r.unique_key

-- name: drop_added
-- Undo of add when another job of the same call is refused: none of them may stay.
DELETE FROM tenure_jobs WHERE id = ANY(:ids::bigint[])

-- name: extend_leases
-- Only what is still held, in the order of ids. A row that is locked is being settled by this very
-- holder: it counts as held, and nobody waits for it.
WITH asked AS MATERIALIZED (
    SELECT r.id, r.fence FROM unnest(:id::bigint[], :fence::bigint[]) AS r (id, fence)
), free AS MATERIALIZED (
    SELECT j.id FROM tenure_jobs j JOIN asked ON asked.id = j.id AND asked.fence = j.fence
    WHERE j.id = ANY(ARRAY(SELECT unnest(:id::bigint[]))) AND j.state + 0 = 1
    ORDER BY j.id FOR UPDATE OF j SKIP LOCKED
), extended AS (
    UPDATE tenure_jobs SET lease_until = {now} + :lease::bigint
    WHERE id = ANY(ARRAY(SELECT id FROM free))
)
SELECT j.id, j.cancel_requested
FROM tenure_jobs j JOIN asked ON asked.id = j.id AND asked.fence = j.fence
WHERE j.id = ANY(ARRAY(SELECT unnest(:id::bigint[]))) AND j.state + 0 = 1

-- name: report_progress
-- Only the present holder may speak for the job. A row that is locked is being settled by this very
-- holder: its news are not worth waiting for.
WITH asked AS MATERIALIZED (
    SELECT r.id, r.fence, r.progress, r.note
    FROM unnest(:id::bigint[], :fence::bigint[], :progress::float8[], :note::text[])
        AS r (id, fence, progress, note)
), free AS MATERIALIZED (
    SELECT j.id FROM tenure_jobs j JOIN asked ON asked.id = j.id AND asked.fence = j.fence
    WHERE j.id = ANY(ARRAY(SELECT unnest(:id::bigint[]))) AND j.state + 0 = 1
    ORDER BY j.id FOR UPDATE OF j SKIP LOCKED
)
UPDATE tenure_jobs j SET progress = coalesce(asked.progress, j.progress),
    progress_note = coalesce(asked.note, j.progress_note)
FROM asked
WHERE j.id = ANY(ARRAY(SELECT id FROM free)) AND asked.id = j.id AND asked.fence = j.fence
RETURNING j.id

-- name: mark_begun
-- Claimed ahead, and begun a moment ago; or about to begin with nothing beside it.
UPDATE tenure_jobs j SET standing = r.standing, started_at = {now} - r.ago
FROM unnest(:id::bigint[], :fence::bigint[], :ago::bigint[], :standing::int[])
    AS r (id, fence, ago, standing)
WHERE j.id = ANY(ARRAY(SELECT unnest(:id::bigint[]))) AND j.id = r.id AND j.fence = r.fence
    AND j.state + 0 = 1 AND j.standing <> 0
RETURNING j.id

-- name: held_leases
-- Which of these still hold, whoever has their rows locked.
SELECT j.id FROM unnest(:id::bigint[], :fence::bigint[]) AS r (id, fence)
JOIN tenure_jobs j ON j.id = r.id AND j.fence = r.fence
WHERE j.id = ANY(ARRAY(SELECT unnest(:id::bigint[]))) AND j.state + 0 = 1

-- name: add_logs
-- Lines of jobs whose fence report_progress has just checked in this transaction.
INSERT INTO tenure_logs (job_id, fence, at, level, message)
SELECT r.id, r.fence, coalesce(r.at, {now}), r.level, r.message
FROM unnest(:id::bigint[], :fence::bigint[], :at::bigint[], :level::text[], :message::text[])
    WITH ORDINALITY AS r (id, fence, at, level, message, place)
ORDER BY r.place

-- fragment: where_now
-- Wait no longer than this for a row that somebody has locked. Set in the statement itself, read before its rows: it
-- costs no round trip, and ends with the transaction.
AND (SELECT set_config('lock_timeout', :patience::text, true)) IS NOT NULL

-- name: lock_free
-- Those of these jobs that nobody else has locked: ours until the end of the transaction.
SELECT id FROM tenure_jobs WHERE id = ANY(ARRAY(SELECT unnest(:ids::bigint[])))
ORDER BY id FOR NO KEY UPDATE SKIP LOCKED

-- name: settle_done
-- Successes without a result that nobody waits for, all under one fence. Only the present holder may settle. The ids in a
-- sub-select and `state + 0` keep the planner on the primary key, whatever the statistics say.
UPDATE tenure_jobs SET state = 2, finished_at = {now}, lease_until = NULL, reason = NULL,
    result = NULL
WHERE id = ANY(ARRAY(SELECT unnest(:ids::bigint[]))) AND fence = :fence::bigint
    AND state + 0 = 1 AND chained = 0 {where}
RETURNING id

-- name: return_jobs
-- Claimed and not begun: back to their place in the queue, as if they had not been claimed. One that is to be cancelled
-- is left to settle_jobs.
UPDATE tenure_jobs j SET state = 0, attempt = j.attempt - 1, lease_until = NULL,
    standing = CASE WHEN j.standing >= 2 THEN 2 ELSE 0 END,
    started_at = CASE WHEN j.attempt + j.refunds + j.snoozes > 1 THEN j.started_at END
FROM unnest(:id::bigint[], :fence::bigint[]) AS r (id, fence)
WHERE j.id = ANY(ARRAY(SELECT id FROM tenure_jobs
        WHERE id = ANY(ARRAY(SELECT unnest(:id::bigint[]))) ORDER BY id FOR UPDATE SKIP LOCKED))
    AND j.id = r.id AND j.fence = r.fence AND j.state + 0 = 1 AND j.cancel_requested = 0
RETURNING j.id, j.queue, j.priority, j.tenant, j.limit_key

-- name: settle_jobs
-- Only the present holder may settle: the fence decides, not the id. A cancel that was asked for
-- meanwhile turns a requeue into the end. For the ids apart see settle_done.
UPDATE tenure_jobs j SET
    state = CASE WHEN r.state = 0 AND j.cancel_requested = 1 THEN 5 ELSE r.state END,
    reason = CASE WHEN r.state = 0 AND j.cancel_requested = 1 THEN 'canceled' ELSE r.reason END,
    finished_at = CASE WHEN r.state = 0 AND j.cancel_requested = 0 THEN NULL
        ELSE {now}::bigint END,
    run_at = CASE WHEN r.state = 0 THEN {now} + r.delay ELSE j.run_at END,
    attempt = j.attempt - r.refund, refunds = j.refunds + r.refund - r.snooze,
    snoozes = j.snoozes + r.snooze, crashes = j.crashes + r.crash, standing = 2 * r.crash,
    result = r.result, lease_until = NULL
FROM unnest(:id::bigint[], :fence::bigint[], :state::int[], :delay::bigint[], :result::text[],
        :reason::text[], :refund::int[], :snooze::int[], :crash::int[])
    AS r (id, fence, state, delay, result, reason, refund, snooze, crash)
WHERE j.id = ANY(ARRAY(SELECT unnest(:id::bigint[]))) AND j.id = r.id AND j.fence = r.fence
    AND j.state + 0 = 1 AND (j.chained = 0 OR :tied::int = 1) {where}
RETURNING j.id

-- name: add_history
-- One line per (job, fence): what did not simply succeed, and operators' moves.
INSERT INTO tenure_attempts (job_id, fence, attempt, entry, worker, started_at, finished_at,
    failure, error_group)
SELECT j.id, r.fence, j.attempt + r.spent, r.entry, coalesce(r.worker, j.lease_owner),
    CASE WHEN r.worker IS NULL THEN j.started_at END, {now}, r.failure, r.error_group
FROM unnest(:id::bigint[], :fence::bigint[], :spent::int[], :entry::text[], :worker::text[],
        :failure::text[], :error_group::bigint[])
    AS r (id, fence, spent, entry, worker, failure, error_group)
JOIN tenure_jobs j ON j.id = r.id
ON CONFLICT (job_id, fence) DO NOTHING

-- name: credit_leases
-- Our transaction kept every renewal out for so long: leases that were alive are given that back.
UPDATE tenure_jobs SET lease_until = lease_until + :held::bigint
WHERE state = 1 AND lease_until >= {now} - :held::bigint
