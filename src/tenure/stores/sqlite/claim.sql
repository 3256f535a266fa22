-- fragment: rare
-- What few jobs have, in the order of rows.claimed(); NULL where a job has nothing of it. Each column of an answer
-- costs time, whatever is in it.
CASE WHEN coalesce(owner, correlation_id, trace) IS NULL AND expires_at IS NULL
        AND snoozes = 0 AND refunds = 0 AND cancel_requested = 0 AND unplaced = 0
    THEN NULL
    ELSE json_array(owner, snoozes, refunds, correlation_id, trace, cancel_requested, expires_at,
        unplaced) END

-- fragment: claimed
-- What a worker needs to run a job, in the order of rows.claimed().
id, fence, kind, queue, payload, priority, tenant, attempt, max_attempts, started_at, standing,
{rare}, run_at, limit_key

-- fragment: as_claimed
-- What a claim writes. Jobs of the queues that it reserves from have not begun yet; a suspect has, and so has one that
-- was reserved when a worker died, so that it cannot kill worker after worker unnoticed.
state = 1, attempt = attempt + 1, fence = fence + 1, lease_owner = :owner,
lease_until = {now} + :lease, started_at = {now}, progress = NULL, progress_note = NULL,
standing = CASE WHEN standing >= 2 THEN 2
    WHEN standing = 0 AND queue IN (SELECT value FROM json_each(:reserving)) THEN 1 ELSE 0 END

-- fragment: as_expired
-- What the end of a job writes that nobody began in time.
state = 5, reason = 'expired', finished_at = {now}, fence = fence + 1

-- fragment: counted
-- A job of a limited kind is counted while it runs.
limit_key = CASE WHEN limit_key IS NULL AND kind IN (SELECT value FROM json_each(:limited))
    THEN kind ELSE limit_key END

-- fragment: best_of_lane
-- The best due jobs of one lane, from behind its floor; expired ones are left to expire_jobs.
id IN (SELECT id FROM tenure_jobs
    WHERE queue = :queue AND priority = :priority AND tenant = :tenant AND state = 0 AND hold = 0
        AND run_at <= {now} AND (run_at, id) > (:floor_run_at, :floor_id)
        AND kind IN (SELECT value FROM json_each(:kinds))
        AND (expires_at IS NULL OR started_at IS NOT NULL OR expires_at > {now})
    ORDER BY run_at, id LIMIT :take)

-- name: paused_queues
-- A paused queue is not scanned at all.
SELECT name FROM tenure_queues WHERE paused = 1

-- name: overdue_leases
-- Jobs whose holder went silent. Who waited for the file could not renew its leases meanwhile.
SELECT id, fence, lease_owner, attempt, max_attempts, cancel_requested, refunds, standing,
    kind, chained, queue, priority, tenant
FROM tenure_jobs
WHERE state = 1 AND lease_until < {now} - :waited AND lease_until >= {now} - :back
ORDER BY lease_until LIMIT :limit

-- name: release_lost
-- Back to the queue, as old as they are: the silent holder can change nothing more. What had not
-- begun may still expire.
UPDATE tenure_jobs SET state = 0, attempt = attempt - s.refund, refunds = refunds + s.counted,
    crashes = crashes + s.crash, standing = s.standing, lease_until = NULL,
    started_at = CASE WHEN s.standing = 1 AND attempt + refunds + snoozes <= 1 THEN NULL ELSE started_at END
FROM (SELECT value ->> 0 AS id, value ->> 1 AS refund, value ->> 2 AS counted, value ->> 3 AS crash,
        value ->> 4 AS standing FROM json_each(:rows)) s
WHERE tenure_jobs.id = s.id AND +tenure_jobs.state = 1

-- name: expire_jobs
-- Not started in time, and nobody waits for it: called off, bounded per claim. Jobs that a feature
-- follows are left to followed_due.
UPDATE tenure_jobs SET {as_expired}
WHERE id IN (SELECT id FROM tenure_jobs
    WHERE state = 0 AND expires_at IS NOT NULL AND started_at IS NULL AND expires_at <= {now}
        AND chained = 0 AND kind NOT IN (SELECT value FROM json_each(:followed))
    ORDER BY expires_at LIMIT :limit)
RETURNING id

-- name: expiring_tied
-- Not started in time, and somebody waits for it; no feature follows it.
SELECT id FROM tenure_jobs
WHERE state = 0 AND expires_at IS NOT NULL AND started_at IS NULL AND expires_at <= {now}
    AND chained <> 0 AND chained & 16 = 0 AND kind NOT IN (SELECT value FROM json_each(:followed))
ORDER BY expires_at LIMIT :limit

-- name: expire_tied
-- Those of expiring_tied whose orders and dependents are ours, as everything is.
UPDATE tenure_jobs SET {as_expired} WHERE id IN (SELECT value FROM json_each(:ids))

-- name: claim_lanes
-- each
-- The lanes of one queue behind a place, by jumping through the due index from one lane to the
-- next; and whether their first job is due. An equal prefix and one scalar bound: a row comparison
-- would walk through the whole lane.
WITH RECURSIVE lane (id) AS (
    SELECT coalesce(
        (SELECT j.id FROM tenure_jobs j WHERE j.queue = :queue AND j.priority = :after_priority
            AND j.tenant > :after_tenant AND j.state = 0 AND j.hold = 0
            ORDER BY j.tenant, j.run_at, j.id LIMIT 1),
        (SELECT j.id FROM tenure_jobs j WHERE j.queue = :queue AND j.priority > :after_priority
            AND j.state = 0 AND j.hold = 0
            ORDER BY j.priority, j.tenant, j.run_at, j.id LIMIT 1))
    UNION ALL
    SELECT coalesce(
        (SELECT n.id FROM tenure_jobs n WHERE n.queue = :queue AND n.priority = j.priority
            AND n.tenant > j.tenant AND n.state = 0 AND n.hold = 0
            ORDER BY n.tenant, n.run_at, n.id LIMIT 1),
        (SELECT n.id FROM tenure_jobs n WHERE n.queue = :queue AND n.priority > j.priority
            AND n.state = 0 AND n.hold = 0
            ORDER BY n.priority, n.tenant, n.run_at, n.id LIMIT 1))
    FROM lane JOIN tenure_jobs j ON j.id = lane.id
    LIMIT :lanes
)
SELECT j.queue, j.priority, j.tenant, j.run_at <= {now} FROM lane JOIN tenure_jobs j ON j.id = lane.id

-- name: claim_gaps
-- each
-- The first lane between two tenants of a priority, where there is one.
SELECT queue, priority, tenant, run_at <= {now} FROM tenure_jobs
WHERE queue = :queue AND priority = :priority AND tenant >= :from_tenant AND tenant < :to_tenant
    AND state = 0 AND hold = 0
ORDER BY tenant, run_at, id LIMIT 1

-- name: claim_levels
-- each
-- The first lane between two priorities, where there is one.
SELECT queue, priority, tenant, run_at <= {now} FROM tenure_jobs
WHERE queue = :queue AND priority > :above AND priority < :below AND state = 0 AND hold = 0
ORDER BY priority, tenant, run_at, id LIMIT 1

-- name: claim_take
-- each
-- Due jobs of kinds without a limit.
UPDATE tenure_jobs SET {as_claimed}
WHERE {best_of_lane}
RETURNING {claimed}

-- name: claim_counted
-- each
-- Due jobs, those of limited kinds marked so that they are counted.
UPDATE tenure_jobs SET {as_claimed}, {counted}
WHERE {best_of_lane}
RETURNING {claimed}
