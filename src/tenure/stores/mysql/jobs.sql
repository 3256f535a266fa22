-- Rows are locked and changed by primary key. FORCE INDEX says so, because the server would rather
-- scan a small table, and wait there for rows that other transactions hold.

-- fragment: now
-- The clock at the statement. UTC, so that neither a session's time zone nor a change to winter
-- time matters; constant within the statement, so that it can bound an index.
TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6))

-- fragment: standing_claimed
-- Jobs of the queues that a claim reserves from have not begun yet; a suspect has, and so has one that was
-- reserved when a worker died, so that it cannot kill worker after worker unnoticed.
CASE WHEN standing >= 2 THEN 2 WHEN standing = 0 AND queue IN :reserving THEN 1 ELSE 0 END

-- fragment: insert_jobs
-- What stands between the marks is repeated for every row, because the ids of one INSERT with
-- VALUES follow each other.
INSERT INTO tenure_jobs (kind, queue, priority, tenant, owner, payload, run_at, expires_at,
    max_attempts, correlation_id, trace, enqueued_by, ordering_key, bucket, batch_id, seq,
    unplaced, created_at)
VALUES
/*row*/ (:kind, :queue, :priority, :tenant, :owner, :payload, coalesce(:run_at, {now} + :delay),
    coalesce(:expires_at, {now} + :expires_delay), :max_attempts, :correlation_id, :trace,
    :enqueued_by, :ordering_key, :bucket, :batch_id, :seq, :unplaced, {now}) /*row*/

-- name: add_job
-- One job without a unique key: what most callers add.
{insert_jobs}

-- name: add_like_jobs
-- Jobs that differ in their payload alone.
{insert_jobs}

-- name: add_jobs
-- Jobs without a unique key, in one statement.
{insert_jobs}

-- name: add_keyed_jobs
-- each
-- The unique index decides, whatever the concurrency. A key that is taken is counted on its job, so
-- that the row itself tells whether it is new: the count of affected rows depends on the client.
INSERT INTO tenure_jobs (kind, queue, priority, tenant, owner, payload, run_at, expires_at,
    max_attempts, correlation_id, trace, enqueued_by, ordering_key, bucket, batch_id, seq,
    unplaced, unique_key, payload_hash, created_at)
VALUES (:kind, :queue, :priority, :tenant, :owner, :payload, coalesce(:run_at, {now} + :delay),
    coalesce(:expires_at, {now} + :expires_delay), :max_attempts, :correlation_id, :trace,
    :enqueued_by, :ordering_key, :bucket, :batch_id, :seq, :unplaced, :unique_key,
    :payload_hash, {now})
ON DUPLICATE KEY UPDATE repeats = repeats + 1, id = LAST_INSERT_ID(id);
SELECT id, tenant, kind, unique_key FROM tenure_jobs WHERE id = LAST_INSERT_ID() AND repeats = 0

-- name: find_keyed_jobs
-- each
-- Who holds the key now: a locking read, as the caller's transaction may see the past otherwise.
SELECT id, tenant, kind, unique_key, payload_hash, state
FROM tenure_jobs FORCE INDEX (tenure_jobs_key)
WHERE tenant = :tenant AND kind = :kind AND live_key = :unique_key
LOCK IN SHARE MODE

-- name: lock_waiting
-- Ours to change until the end of the transaction, if it still waits.
SELECT id FROM tenure_jobs WHERE id = :id AND state = 0 FOR UPDATE

-- name: add_payloads
-- each
-- Large payloads live beside the row, which is written at every claim and settle.
INSERT INTO tenure_payloads (job_id, payload) VALUES (:id, :payload)

-- name: read_payloads
SELECT job_id, payload FROM tenure_payloads FORCE INDEX (PRIMARY) WHERE job_id IN :ids

-- name: replace_job
-- Only a job that still waits can take another payload.
SELECT id FROM tenure_jobs WHERE id = :id AND state = 0 FOR UPDATE;
UPDATE tenure_jobs FORCE INDEX (PRIMARY)
SET payload = :payload, payload_hash = :payload_hash, priority = :priority,
    run_at = coalesce(:run_at, CASE WHEN :debounce = 1 THEN {now} + :delay ELSE run_at END)
WHERE id IN :ids

-- name: take_windows
-- each
-- A key with a window is free when nobody has it or its window is over. It names no job until
-- bind_windows, in this same transaction: that is how one that was just taken is known.
INSERT INTO tenure_keys (tenant, kind, unique_key, payload_hash, job_id, until)
VALUES (:tenant, :kind, :unique_key, :payload_hash, NULL, {now} + :window)
ON DUPLICATE KEY UPDATE
    payload_hash = IF(until <= {now}, :payload_hash, payload_hash),
    job_id = IF(until <= {now}, NULL, job_id),
    until = IF(until <= {now}, {now} + :window, until);
SELECT tenant, kind, unique_key FROM tenure_keys
WHERE tenant = :tenant AND kind = :kind AND unique_key = :unique_key AND job_id IS NULL

-- name: find_windows
-- each
-- Who has the key, with what, and in which state the job is while it is still kept.
SELECT k.job_id, k.tenant, k.kind, k.unique_key, k.payload_hash, coalesce(j.state, 2)
FROM tenure_keys k LEFT JOIN tenure_jobs j ON j.id = k.job_id
WHERE k.tenant = :tenant AND k.kind = :kind AND k.unique_key = :unique_key
LOCK IN SHARE MODE

-- name: bind_windows
-- each
-- The key now names its job.
UPDATE tenure_keys SET job_id = :id
WHERE tenant = :tenant AND kind = :kind AND unique_key = :unique_key

-- name: rehash_windows
-- each
-- The waiting job has another payload now; the key must know it.
UPDATE tenure_keys SET payload_hash = :payload_hash
WHERE tenant = :tenant AND kind = :kind AND unique_key = :unique_key

-- name: drop_windows
-- each
-- Undo of take_windows when another job of the same call is refused.
DELETE FROM tenure_keys WHERE tenant = :tenant AND kind = :kind AND unique_key = :unique_key

-- name: drop_added
-- Undo of add when another job of the same call is refused: none of them may stay.
DELETE FROM tenure_jobs WHERE id IN :ids

-- name: extend_leases
-- Only what is still held, in the order of ids. A row that is locked is being settled by this very
-- holder: it counts as held, and nobody waits for it.
SELECT j.id
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (id BIGINT PATH '$.id', fence BIGINT PATH '$.fence')) r
STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = r.id
WHERE j.fence = r.fence AND j.state = 1 FOR UPDATE SKIP LOCKED;
UPDATE tenure_jobs FORCE INDEX (PRIMARY)
SET lease_until = {now} + :lease WHERE id IN :ids;
SELECT j.id, j.cancel_requested
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (id BIGINT PATH '$.id', fence BIGINT PATH '$.fence')) r
STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = r.id
WHERE j.fence = r.fence AND j.state = 1

-- name: report_progress
-- Only the present holder may speak for the job. A row that is locked is being settled by this very
-- holder: its news are not worth waiting for.
SELECT j.id
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (id BIGINT PATH '$.id', fence BIGINT PATH '$.fence')) r
STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = r.id
WHERE j.fence = r.fence AND j.state = 1 FOR UPDATE SKIP LOCKED;
UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS (id BIGINT PATH '$.id', fence BIGINT PATH '$.fence',
    progress DOUBLE PATH '$.progress', note LONGTEXT PATH '$.note')) r
STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = r.id
SET j.progress = coalesce(r.progress, j.progress),
    j.progress_note = coalesce(r.note, j.progress_note)
WHERE j.id IN :ids AND j.fence = r.fence

-- name: mark_begun
-- Claimed ahead, and begun a moment ago; or about to begin with nothing beside it. What is locked is
-- being settled by this very holder.
SELECT j.id
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (id BIGINT PATH '$.id', fence BIGINT PATH '$.fence')) r
STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = r.id
WHERE j.fence = r.fence AND j.state = 1 AND j.standing <> 0 FOR UPDATE SKIP LOCKED;
UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS (id BIGINT PATH '$.id', ago BIGINT PATH '$.ago',
    standing INT PATH '$.standing')) r
STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = r.id
SET j.standing = r.standing, j.started_at = {now} - r.ago
WHERE j.id IN :ids

-- name: held_leases
-- Which of these still hold, whoever has their rows locked.
SELECT j.id
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (id BIGINT PATH '$.id', fence BIGINT PATH '$.fence')) r
STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = r.id
WHERE j.fence = r.fence AND j.state = 1

-- name: add_logs
-- Lines of jobs whose fence report_progress has just checked in this transaction.
INSERT INTO tenure_logs (job_id, fence, at, level, message)
SELECT r.id, r.fence, coalesce(r.at, {now}), r.level, r.message
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (place FOR ORDINALITY, id BIGINT PATH '$.id',
    fence BIGINT PATH '$.fence', at BIGINT PATH '$.at', level LONGTEXT PATH '$.level',
    message LONGTEXT PATH '$.message')) r
ORDER BY r.place

-- fragment: where_now
-- Rows that somebody has locked are left for later.
SKIP LOCKED

-- name: lock_free
-- Those of these jobs that nobody else has locked: ours until the end of the transaction.
SELECT id FROM tenure_jobs FORCE INDEX (PRIMARY) WHERE id IN :ids ORDER BY id FOR UPDATE SKIP LOCKED

-- name: settle_done
-- Successes without a result that nobody waits for, all under one fence. Only the present holder may settle. One that
-- somebody waits for is found without a lock: its order is to be locked before it.
SELECT id FROM tenure_jobs FORCE INDEX (PRIMARY) WHERE id IN :ids AND chained = 0;
SELECT id FROM tenure_jobs FORCE INDEX (PRIMARY)
WHERE id IN :ids AND fence = :fence AND state = 1 AND chained = 0 FOR UPDATE {where};
UPDATE tenure_jobs FORCE INDEX (PRIMARY)
SET state = 2, finished_at = {now}, lease_until = NULL, reason = NULL, result = NULL
WHERE id IN :ids

-- name: return_jobs
-- Claimed and not begun: back to their place in the queue, as if they had not been claimed. One that is to be cancelled
-- is left to settle_jobs.
SELECT j.id, j.queue, j.priority, j.tenant, j.limit_key
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (id BIGINT PATH '$.id', fence BIGINT PATH '$.fence')) r
STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = r.id
WHERE j.fence = r.fence AND j.state = 1 AND j.cancel_requested = 0 FOR UPDATE SKIP LOCKED;
UPDATE tenure_jobs FORCE INDEX (PRIMARY)
SET started_at = CASE WHEN attempt + refunds + snoozes > 1 THEN started_at END, state = 0, attempt = attempt - 1,
    lease_until = NULL, standing = CASE WHEN standing >= 2 THEN 2 ELSE 0 END
WHERE id IN :ids

-- name: settle_jobs
-- Only the present holder may settle: the fence decides, not the id. A cancel that was asked for
-- meanwhile turns a requeue into the end. Rows are locked and changed in the order of ids; the inner part is
-- read without a lock, as in settle_done, and kept apart by its LIMIT.
SELECT j.id FROM (
    SELECT c.id, r.fence
    FROM JSON_TABLE(:rows, '$[*]' COLUMNS (id BIGINT PATH '$.id', fence BIGINT PATH '$.fence')) r
    STRAIGHT_JOIN tenure_jobs c FORCE INDEX (PRIMARY) ON c.id = r.id
    WHERE c.chained = 0 OR :tied = 1 ORDER BY c.id LIMIT 1000000
) r STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = r.id
WHERE j.fence = r.fence AND j.state = 1 AND (j.chained = 0 OR :tied = 1) FOR UPDATE {where};
UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS (id BIGINT PATH '$.id', fence BIGINT PATH '$.fence',
    state INT PATH '$.state', delay BIGINT PATH '$.delay', result LONGTEXT PATH '$.result',
    reason LONGTEXT PATH '$.reason', refund INT PATH '$.refund', snooze INT PATH '$.snooze',
    crash INT PATH '$.crash')) r
STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = r.id
SET j.state = CASE WHEN r.state = 0 AND j.cancel_requested = 1 THEN 5 ELSE r.state END,
    j.reason = CASE WHEN r.state = 0 AND j.cancel_requested = 1 THEN 'canceled'
        ELSE r.reason END,
    j.finished_at = CASE WHEN r.state = 0 AND j.cancel_requested = 0 THEN NULL ELSE {now} END,
    j.run_at = CASE WHEN r.state = 0 THEN {now} + r.delay ELSE j.run_at END,
    j.attempt = j.attempt - r.refund, j.refunds = j.refunds + r.refund - r.snooze,
    j.snoozes = j.snoozes + r.snooze, j.crashes = j.crashes + r.crash, j.standing = 2 * r.crash,
    j.result = r.result, j.lease_until = NULL
WHERE j.id IN :ids AND j.fence = r.fence

-- name: add_history
-- One line per (job, fence): what did not simply succeed, and operators' moves.
INSERT INTO tenure_attempts (job_id, fence, attempt, entry, worker, started_at, finished_at,
    failure, error_group)
SELECT j.id, r.fence, j.attempt + r.spent, r.entry, coalesce(r.worker, j.lease_owner),
    CASE WHEN r.worker IS NULL THEN j.started_at END, {now}, r.failure, r.error_group
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (id BIGINT PATH '$.id', fence BIGINT PATH '$.fence',
    spent INT PATH '$.spent', entry LONGTEXT PATH '$.entry', worker LONGTEXT PATH '$.worker',
    failure LONGTEXT PATH '$.failure', error_group BIGINT PATH '$.error_group')) r
STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = r.id
ON DUPLICATE KEY UPDATE tenure_attempts.fence = tenure_attempts.fence

-- name: credit_leases
-- Our transaction kept every renewal out for so long: leases that were alive are given that back.
SELECT id FROM tenure_jobs FORCE INDEX (tenure_jobs_leased)
WHERE running_until >= {now} - :held FOR UPDATE SKIP LOCKED;
UPDATE tenure_jobs FORCE INDEX (PRIMARY)
SET lease_until = lease_until + :held WHERE id IN :ids
