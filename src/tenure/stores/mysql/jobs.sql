-- Rows are locked and changed by primary key. FORCE INDEX says so, because the server would rather
-- scan a small table, and wait there for rows that other transactions hold.

-- fragment: now
-- The clock at the statement. UTC, so that neither a session's time zone nor a change to winter
-- time matters; constant within the statement, so that it can bound an index.
TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6))

-- fragment: rare
-- What few jobs have, in the order of rows.claimed(); NULL where a job has nothing of it. Each column of an answer
-- costs time, whatever is in it.
CASE WHEN coalesce(owner, correlation_id, trace) IS NULL AND expires_at IS NULL
        AND snoozes = 0 AND refunds = 0 AND cancel_requested = 0 AND unplaced = 0
    THEN NULL
    ELSE JSON_ARRAY(owner, snoozes, refunds, correlation_id, trace, cancel_requested, expires_at,
        unplaced) END


-- fragment: standing_claimed
-- Jobs of the queues that a claim reserves from have not begun yet; a suspect has, and so has one that was
-- reserved when a worker died, so that it cannot kill worker after worker unnoticed.
CASE WHEN standing >= 2 THEN 2 WHEN standing = 0 AND queue IN :reserving THEN 1 ELSE 0 END

-- fragment: claimed
-- What a worker needs to run a job, in the order of rows.claimed(): a row as the UPDATE will leave it.
id, fence + 1, kind, queue, payload, priority, tenant, attempt + 1, max_attempts, {now} AS moment,
{standing_claimed}, {rare}, run_at, limit_key

-- fragment: as_claimed
-- What a claim writes.
state = 1, attempt = attempt + 1, fence = fence + 1, lease_owner = :owner,
lease_until = :moment + :lease, started_at = :moment, progress = NULL, progress_note = NULL,
standing = {standing_claimed}

-- fragment: as_expired
-- What the end of a job writes that nobody began in time.
state = 5, reason = 'expired', finished_at = {now}, fence = fence + 1

-- fragment: counted
-- A job of a limited kind is counted while it runs.
limit_key = CASE WHEN limit_key IS NULL AND kind IN :limited THEN kind ELSE limit_key END

-- fragment: best_of_lane
-- The best due jobs of one lane, from behind its floor; what another worker takes at this moment is
-- passed over, and expired ones are left to expire_jobs.
FROM tenure_jobs FORCE INDEX (tenure_jobs_due)
WHERE due_queue = :queue AND priority = :priority AND tenant = :tenant
    AND run_at <= {now} AND run_at >= :floor_run_at
    AND (run_at > :floor_run_at OR id > :floor_id) AND kind IN :kinds
    AND (expires_at IS NULL OR started_at IS NOT NULL OR expires_at > {now})
ORDER BY run_at, id LIMIT :take FOR UPDATE SKIP LOCKED

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

-- name: paused_queues
-- A paused queue is not scanned at all.
SELECT name FROM tenure_queues WHERE paused = 1

-- name: overdue_leases
-- Jobs whose holder went silent. A row that somebody has locked is being renewed, settled or
-- recovered at this moment.
SELECT id, fence, lease_owner, attempt, max_attempts, cancel_requested, refunds, standing,
    queue, priority, tenant
FROM tenure_jobs FORCE INDEX (tenure_jobs_leased)
WHERE running_until < {now} - :waited AND running_until >= {now} - :back
ORDER BY running_until LIMIT :limit FOR UPDATE SKIP LOCKED

-- name: release_lost
-- Back to the queue, as old as they are: the silent holder can change nothing more. What had not
-- begun may still expire. The rows were locked by overdue_leases.
UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS (id BIGINT PATH '$.id', refund INT PATH '$.refund',
    counted INT PATH '$.counted', crash INT PATH '$.crash', standing INT PATH '$.standing')) r
STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = r.id
SET j.started_at = CASE WHEN r.standing = 1 AND j.attempt + j.refunds + j.snoozes <= 1 THEN NULL ELSE j.started_at END,
    j.state = 0, j.attempt = j.attempt - r.refund, j.refunds = j.refunds + r.counted,
    j.crashes = j.crashes + r.crash, j.standing = r.standing, j.lease_until = NULL

-- name: expire_jobs
-- Not started in time, and nobody waits for it: called off, bounded per claim.
SELECT id FROM tenure_jobs FORCE INDEX (tenure_jobs_expiring)
WHERE expiring_at <= {now} AND chained = 0
ORDER BY expiring_at LIMIT :limit FOR UPDATE SKIP LOCKED;
UPDATE tenure_jobs FORCE INDEX (PRIMARY) SET {as_expired} WHERE id IN :ids

-- name: expiring_tied
-- Not started in time, and somebody waits for it.
SELECT id FROM tenure_jobs FORCE INDEX (tenure_jobs_expiring)
WHERE expiring_at <= {now} AND chained <> 0
ORDER BY expiring_at LIMIT :limit FOR UPDATE SKIP LOCKED

-- name: expire_tied
-- Those of expiring_tied whose orders and dependents we have locked.
UPDATE tenure_jobs FORCE INDEX (PRIMARY) SET {as_expired} WHERE id IN :ids

-- name: claim_lanes
-- each
-- The lanes of one queue behind a place, by jumping through the due index from one lane to the
-- next; and whether their first job is due. GROUP BY would read every queued job whenever the
-- statistics are old.
(SELECT due_queue, priority, tenant, run_at <= {now} FROM tenure_jobs
    FORCE INDEX (tenure_jobs_due)
    WHERE due_queue = :queue AND priority = :after_priority AND tenant > :after_tenant
    ORDER BY tenant, run_at LIMIT 1)
UNION ALL
(SELECT due_queue, priority, tenant, run_at <= {now} FROM tenure_jobs
    FORCE INDEX (tenure_jobs_due)
    WHERE due_queue = :queue AND priority > :after_priority
    ORDER BY priority, tenant, run_at LIMIT 1)
ORDER BY priority, tenant LIMIT 1;
/*again*/
(SELECT due_queue, priority, tenant, run_at <= {now} FROM tenure_jobs
    FORCE INDEX (tenure_jobs_due)
    WHERE due_queue = :queue AND priority = :priority AND tenant > :tenant
    ORDER BY tenant, run_at LIMIT 1)
UNION ALL
(SELECT due_queue, priority, tenant, run_at <= {now} FROM tenure_jobs
    FORCE INDEX (tenure_jobs_due)
    WHERE due_queue = :queue AND priority > :priority
    ORDER BY priority, tenant, run_at LIMIT 1)
ORDER BY priority, tenant LIMIT 1

-- name: claim_gaps
-- each
-- The first lane between two tenants of a priority, where there is one.
SELECT due_queue, priority, tenant, run_at <= {now} FROM tenure_jobs FORCE INDEX (tenure_jobs_due)
WHERE due_queue = :queue AND priority = :priority AND tenant >= :from_tenant AND tenant < :to_tenant
ORDER BY tenant, run_at, id LIMIT 1

-- name: claim_levels
-- each
-- The first lane between two priorities, where there is one.
SELECT due_queue, priority, tenant, run_at <= {now} FROM tenure_jobs FORCE INDEX (tenure_jobs_due)
WHERE due_queue = :queue AND priority > :above AND priority < :below
ORDER BY priority, tenant, run_at, id LIMIT 1

-- name: claim_take
-- each
-- Due jobs of kinds without a limit.
SELECT {claimed}
{best_of_lane};
UPDATE tenure_jobs FORCE INDEX (PRIMARY) SET {as_claimed}
WHERE id IN :ids

-- name: claim_counted
-- each
-- Due jobs, those of limited kinds marked so that they are counted.
SELECT {claimed}
{best_of_lane};
UPDATE tenure_jobs FORCE INDEX (PRIMARY) SET {as_claimed}, {counted}
WHERE id IN :ids

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
    failure)
SELECT j.id, r.fence, j.attempt + r.spent, r.entry, coalesce(r.worker, j.lease_owner),
    CASE WHEN r.worker IS NULL THEN j.started_at END, {now}, r.failure
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (id BIGINT PATH '$.id', fence BIGINT PATH '$.fence',
    spent INT PATH '$.spent', entry LONGTEXT PATH '$.entry', worker LONGTEXT PATH '$.worker',
    failure LONGTEXT PATH '$.failure')) r
STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = r.id
ON DUPLICATE KEY UPDATE tenure_attempts.fence = tenure_attempts.fence

-- name: credit_leases
-- Our transaction kept every renewal out for so long: leases that were alive are given that back.
SELECT id FROM tenure_jobs FORCE INDEX (tenure_jobs_leased)
WHERE running_until >= {now} - :held FOR UPDATE SKIP LOCKED;
UPDATE tenure_jobs FORCE INDEX (PRIMARY)
SET lease_until = lease_until + :held WHERE id IN :ids
