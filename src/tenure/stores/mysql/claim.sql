-- fragment: rare
-- What few jobs have, in the order of rows.claimed(); NULL where a job has nothing of it. Each column of an answer
-- costs time, whatever is in it.
CASE WHEN coalesce(owner, correlation_id, trace) IS NULL AND expires_at IS NULL
        AND snoozes = 0 AND refunds = 0 AND cancel_requested = 0 AND unplaced = 0
    THEN NULL
    ELSE JSON_ARRAY(owner, snoozes, refunds, correlation_id, trace, cancel_requested, expires_at,
        unplaced) END

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

-- name: paused_queues
-- A paused queue is not scanned at all.
SELECT name FROM tenure_queues WHERE paused = 1

-- name: overdue_leases
-- Jobs whose holder went silent. A row that somebody has locked is being renewed, settled or
-- recovered at this moment.
SELECT id, fence, lease_owner, attempt, max_attempts, cancel_requested, refunds, standing,
    kind, chained, queue, priority, tenant
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
-- Not started in time, and nobody waits for it: called off, bounded per claim. Jobs that a feature
-- follows are left to followed_due.
SELECT id FROM tenure_jobs FORCE INDEX (tenure_jobs_expiring)
WHERE expiring_at <= {now} AND chained = 0 AND coalesce(kind IN :followed, 0) = 0
ORDER BY expiring_at LIMIT :limit FOR UPDATE SKIP LOCKED;
UPDATE tenure_jobs FORCE INDEX (PRIMARY) SET {as_expired} WHERE id IN :ids

-- name: expiring_tied
-- Not started in time, and somebody waits for it; no feature follows it.
SELECT id FROM tenure_jobs FORCE INDEX (tenure_jobs_expiring)
WHERE expiring_at <= {now} AND chained <> 0 AND chained & 16 = 0 AND coalesce(kind IN :followed, 0) = 0
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
