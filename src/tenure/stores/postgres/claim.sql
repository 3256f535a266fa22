-- fragment: rare
-- What few jobs have, in the order of rows.claimed(); NULL where a job has nothing of it. Each column of an answer
-- costs time, whatever is in it.
CASE WHEN coalesce(owner, correlation_id, trace) IS NULL AND expires_at IS NULL
        AND snoozes = 0 AND refunds = 0 AND cancel_requested = 0 AND unplaced = 0
    THEN NULL
    ELSE json_build_array(owner, snoozes, refunds, correlation_id, trace, cancel_requested, expires_at,
        unplaced)::text END

-- fragment: claimed
-- What a worker needs to run a job, in the order of rows.claimed().
id, fence, kind, queue, payload, priority, tenant, attempt, max_attempts, started_at, standing,
{rare}, run_at, limit_key

-- fragment: as_claimed
-- What a claim writes. Jobs of the queues that it reserves from have not begun yet; a suspect has, and so has one that
-- was reserved when a worker died, so that it cannot kill worker after worker unnoticed.
state = 1, attempt = attempt + 1, fence = fence + 1, lease_owner = :owner::text,
lease_until = {now} + :lease::bigint, started_at = {now}, progress = NULL, progress_note = NULL,
standing = CASE WHEN standing >= 2 THEN 2
    WHEN standing = 0 AND queue = ANY(:reserving::text[]) THEN 1 ELSE 0 END

-- fragment: as_expired
-- What the end of a job writes that nobody began in time.
state = 5, reason = 'expired', finished_at = {now}, fence = fence + 1

-- fragment: counted
-- A job of a limited kind is counted while it runs.
limit_key = CASE WHEN limit_key IS NULL AND kind = ANY(:limited::text[]) THEN kind ELSE limit_key END

-- fragment: best_of_lane
-- The best due jobs of every lane, from behind its floor; what another worker takes at this moment is passed over, and
-- expired ones are left to expire_jobs. The LIMIT leaves out no lane: without it PostgreSQL expects ten of them, holds
-- a plan for any number to be too dear, and plans each claim anew, which takes longer than the claim. Lanes are asked
-- in their order: when the room is full, those behind are not asked at all.
id = ANY(ARRAY(
    SELECT due.id
    FROM (
        SELECT * FROM unnest(:queue::text[], :priority::int[], :tenant::text[], :take::bigint[],
            :floor_run_at::bigint[], :floor_id::bigint[]) LIMIT cardinality(:queue::text[])
    ) AS lane (queue, priority, tenant, take, floor_run_at, floor_id)
    CROSS JOIN LATERAL (
        SELECT j.id FROM tenure_jobs j
        WHERE j.queue = lane.queue AND j.priority = lane.priority AND j.tenant = lane.tenant
            AND j.state = 0 AND j.hold = 0 AND j.run_at <= {now}
            AND (j.run_at, j.id) > (lane.floor_run_at, lane.floor_id)
            AND j.kind = ANY(:kinds::text[])
            AND (j.expires_at IS NULL OR j.started_at IS NOT NULL OR j.expires_at > {now})
        ORDER BY j.run_at, j.id LIMIT lane.take FOR UPDATE SKIP LOCKED
    ) due
    LIMIT :room::bigint))

-- name: paused_queues
-- A paused queue is not scanned at all.
SELECT name FROM tenure_queues WHERE paused = 1

-- name: overdue_leases
-- Jobs whose holder went silent. A row that somebody has locked is being renewed, settled or
-- recovered at this moment.
SELECT id, fence, lease_owner, attempt, max_attempts, cancel_requested, refunds, standing,
    kind, chained, queue, priority, tenant
FROM tenure_jobs
WHERE state = 1 AND lease_until < {now} - :waited::bigint AND lease_until >= {now} - :back::bigint
ORDER BY lease_until LIMIT :limit::bigint FOR UPDATE SKIP LOCKED

-- name: release_lost
-- Back to the queue, as old as they are: the silent holder can change nothing more. What had not
-- begun may still expire.
UPDATE tenure_jobs j SET state = 0, attempt = j.attempt - r.refund, refunds = j.refunds + r.counted,
    crashes = j.crashes + r.crash, standing = r.standing, lease_until = NULL,
    started_at = CASE WHEN r.standing = 1 AND j.attempt + j.refunds + j.snoozes <= 1 THEN NULL ELSE j.started_at END
FROM unnest(:id::bigint[], :refund::int[], :counted::int[], :crash::int[], :standing::int[])
    AS r (id, refund, counted, crash, standing)
WHERE j.id = ANY(ARRAY(SELECT unnest(:id::bigint[]))) AND j.id = r.id AND j.state + 0 = 1

-- name: expire_jobs
-- Not started in time, and nobody waits for it: called off, bounded per claim. Jobs that a feature
-- follows are left to followed_due.
UPDATE tenure_jobs SET {as_expired}
WHERE id = ANY(ARRAY(SELECT id FROM tenure_jobs
    WHERE state = 0 AND expires_at IS NOT NULL AND started_at IS NULL AND expires_at <= {now}
        AND chained = 0 AND NOT kind || '' = ANY(:followed::text[])
    ORDER BY expires_at LIMIT :limit::bigint FOR UPDATE SKIP LOCKED))
RETURNING id

-- name: expiring_tied
-- Not started in time, and somebody waits for it; no feature follows it.
SELECT id FROM tenure_jobs
WHERE state = 0 AND expires_at IS NOT NULL AND started_at IS NULL AND expires_at <= {now}
    AND chained <> 0 AND chained & 16 = 0 AND NOT kind || '' = ANY(:followed::text[])
ORDER BY expires_at LIMIT :limit::bigint FOR UPDATE SKIP LOCKED

-- name: expire_tied
-- Those of expiring_tied whose orders and dependents we have locked.
UPDATE tenure_jobs SET {as_expired} WHERE id = ANY(ARRAY(SELECT unnest(:ids::bigint[])))

-- name: claim_lanes
-- The lanes of each queue behind a place, by jumping through the due index from one lane to the
-- next; and whether their first job is due. The LIMIT as in claim_take.
SELECT q.queue, lane.priority, lane.tenant, lane.run_at <= {now}
FROM (
    SELECT * FROM unnest(:queue::text[], :after_priority::bigint[], :after_tenant::text[])
    LIMIT cardinality(:queue::text[])
) AS q (queue, after_priority, after_tenant)
CROSS JOIN LATERAL (
    WITH RECURSIVE jump AS (
        (SELECT j.priority, j.tenant, j.run_at FROM tenure_jobs j
            WHERE j.queue = q.queue AND j.state = 0 AND j.hold = 0
                AND (j.priority, j.tenant) > (q.after_priority, q.after_tenant)
            ORDER BY j.priority, j.tenant, j.run_at LIMIT 1)
        UNION ALL
        SELECT n.priority, n.tenant, n.run_at FROM jump CROSS JOIN LATERAL (
            SELECT j.priority, j.tenant, j.run_at FROM tenure_jobs j
            WHERE j.queue = q.queue AND j.state = 0 AND j.hold = 0
                AND (j.priority, j.tenant) > (jump.priority, jump.tenant)
            ORDER BY j.priority, j.tenant, j.run_at LIMIT 1) n
    )
    SELECT priority, tenant, run_at FROM jump LIMIT :lanes::bigint
) lane

-- name: claim_gaps
-- The first lane between two tenants of a priority, where there is one. The LIMIT as in claim_take.
SELECT q.queue, lane.priority, lane.tenant, lane.run_at <= {now}
FROM (
    SELECT * FROM unnest(:queue::text[], :priority::int[], :from_tenant::text[],
        :to_tenant::text[]) LIMIT cardinality(:queue::text[])
) AS q (queue, priority, from_tenant, to_tenant)
CROSS JOIN LATERAL (
    SELECT j.priority, j.tenant, j.run_at FROM tenure_jobs j
    WHERE j.queue = q.queue AND j.priority = q.priority AND j.tenant >= q.from_tenant
        AND j.tenant < q.to_tenant AND j.state = 0 AND j.hold = 0
    ORDER BY j.tenant, j.run_at, j.id LIMIT 1) lane

-- name: claim_levels
-- The first lane between two priorities, where there is one.
SELECT q.queue, lane.priority, lane.tenant, lane.run_at <= {now}
FROM (
    SELECT * FROM unnest(:queue::text[], :above::int[], :below::int[])
    LIMIT cardinality(:queue::text[])
) AS q (queue, above, below)
CROSS JOIN LATERAL (
    SELECT j.priority, j.tenant, j.run_at FROM tenure_jobs j
    WHERE j.queue = q.queue AND j.priority > q.above AND j.priority < q.below
        AND j.state = 0 AND j.hold = 0
    ORDER BY j.priority, j.tenant, j.run_at, j.id LIMIT 1) lane

-- name: claim_take
-- Due jobs of kinds without a limit.
UPDATE tenure_jobs SET {as_claimed}
WHERE {best_of_lane}
RETURNING {claimed}

-- name: claim_counted
-- Due jobs, those of limited kinds marked so that they are counted.
UPDATE tenure_jobs SET {as_claimed}, {counted}
WHERE {best_of_lane}
RETURNING {claimed}
