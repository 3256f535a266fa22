-- What queues are told to do: jobs without a handler's word find their queue, old ones are lifted, tenants do not share.

-- name: find_unplaced
-- Waiting jobs of these kinds that were added without knowing their handler. The order is that of their index, which
-- is nearly always empty.
SELECT j.id, asked.kind, j.unplaced
FROM unnest(:kinds::text[]) AS asked (kind)
CROSS JOIN LATERAL (
    SELECT id, unplaced FROM tenure_jobs
    WHERE kind = asked.kind AND unplaced <> 0 AND state = 0
    ORDER BY kind, unplaced LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
) j
LIMIT :limit::bigint

-- name: place_jobs
-- What their handler says, where nothing else was given.
UPDATE tenure_jobs j SET queue = coalesce(r.queue, j.queue), priority = coalesce(r.priority, j.priority),
    max_attempts = coalesce(r.max_attempts, j.max_attempts), unplaced = 0
FROM unnest(:id::bigint[], :queue::text[], :priority::int[], :max_attempts::int[])
    AS r (id, queue, priority, max_attempts)
WHERE j.id = ANY(ARRAY(SELECT unnest(:id::bigint[]))) AND j.id = r.id AND j.state + 0 = 0

-- name: claim_ages
-- How old the first jobs of each lane are, behind its floor: where tenants do not share, the oldest goes first.
SELECT lane.queue, lane.priority, lane.tenant, due.run_at, due.id
FROM (
    SELECT * FROM unnest(:queue::text[], :priority::int[], :tenant::text[], :floor_run_at::bigint[],
        :floor_id::bigint[]) LIMIT cardinality(:queue::text[])
) AS lane (queue, priority, tenant, floor_run_at, floor_id)
CROSS JOIN LATERAL (
    SELECT j.run_at, j.id FROM tenure_jobs j
    WHERE j.queue = lane.queue AND j.priority = lane.priority AND j.tenant = lane.tenant
        AND j.state = 0 AND j.hold = 0 AND j.run_at <= {now}
        AND (j.run_at, j.id) > (lane.floor_run_at, lane.floor_id)
        AND j.kind = ANY(:kinds::text[])
        AND (j.expires_at IS NULL OR j.started_at IS NOT NULL OR j.expires_at > {now})
    ORDER BY j.run_at, j.id LIMIT :first::bigint
) due

-- name: old_jobs
-- The jobs of each lane that have waited for so long, behind the place that the last look reached.
SELECT lane.queue, lane.priority, lane.tenant, old.run_at, old.id, old.lifted
FROM (
    SELECT * FROM unnest(:queue::text[], :priority::int[], :tenant::text[], :floor_run_at::bigint[],
        :floor_id::bigint[]) LIMIT cardinality(:queue::text[])
) AS lane (queue, priority, tenant, floor_run_at, floor_id)
CROSS JOIN LATERAL (
    SELECT j.run_at, j.id, j.lifted FROM tenure_jobs j
    WHERE j.queue = lane.queue AND j.priority = lane.priority AND j.tenant = lane.tenant
        AND j.state = 0 AND j.hold = 0 AND j.run_at <= {now} - :ageing::bigint
        AND (j.run_at, j.id) > (lane.floor_run_at, lane.floor_id)
    ORDER BY j.run_at, j.id LIMIT :first::bigint
) old

-- name: lift_jobs
-- One step up, once; what somebody claims at this moment is passed over.
UPDATE tenure_jobs SET priority = priority - 1, lifted = 1
WHERE id = ANY(ARRAY(SELECT id FROM tenure_jobs
    WHERE id = ANY(ARRAY(SELECT unnest(:ids::bigint[]))) AND state + 0 = 0 AND lifted = 0 AND priority > 0
    ORDER BY id FOR UPDATE SKIP LOCKED))
RETURNING id, queue, priority, tenant
