-- Limits: a job that comes up while its gate is closed is parked, out of the due index, and claimed from there.

-- name: mark_gates
-- Under which key of their kind these jobs are limited.
UPDATE tenure_jobs j SET limit_key = r.gate
FROM unnest(:id::bigint[], :gate::text[]) AS r (id, gate)
WHERE j.id = ANY(ARRAY(SELECT unnest(:id::bigint[]))) AND j.id = r.id

-- name: charge_gate
-- So many more run, where that is surely within the limit: `running` is at least what runs.
UPDATE tenure_gates SET running = running + :jobs::bigint
WHERE name = :gate::text AND running + :jobs::bigint <= :most::bigint
RETURNING running

-- name: lock_gates
-- Until the end of the transaction nobody else lets a job in here.
SELECT name, tokens, refilled_at FROM tenure_gates WHERE name = ANY(:gates::text[])
ORDER BY name FOR UPDATE

-- name: add_gates
-- A gate that was not used lately: its bucket is full.
INSERT INTO tenure_gates (name, tokens, refilled_at, full_at)
SELECT r.name, r.tokens, {now}, {now} FROM unnest(:gate::text[], :tokens::float8[]) AS r (name, tokens)
ORDER BY r.name
ON CONFLICT (name) DO NOTHING

-- name: count_gates
-- How many run at each gate under a lease that is alive, and when that was.
SELECT r.gate, (SELECT count(*) FROM tenure_jobs j
        WHERE j.state = 1 AND j.limit_key >= r.gate AND j.limit_key < r.behind
            AND j.lease_until >= {now}), {now}
FROM (
    SELECT * FROM unnest(:gate::text[], :behind::text[]) LIMIT cardinality(:gate::text[])
) AS r (gate, behind)

-- name: count_keys
-- The same for gates of keys.
SELECT r.gate, (SELECT count(*) FROM tenure_jobs j
        WHERE j.state = 1 AND j.limit_key = r.gate AND j.lease_until >= {now}), {now}
FROM (SELECT * FROM unnest(:gate::text[]) LIMIT cardinality(:gate::text[])) AS r (gate)

-- name: note_gates
-- What runs now, and the tokens that are left.
UPDATE tenure_gates g SET running = r.running, tokens = r.tokens, refilled_at = r.refilled_at,
    full_at = r.full_at
FROM unnest(:gate::text[], :running::bigint[], :tokens::float8[], :refilled_at::bigint[],
        :full_at::bigint[])
    AS r (gate, running, tokens, refilled_at, full_at)
WHERE g.name = r.gate

-- name: refund_gates
-- Jobs that passed here were given back before they began: their tokens are there for others.
UPDATE tenure_gates g SET tokens = g.tokens + r.tokens
FROM unnest(:gate::text[], :tokens::float8[]) AS r (gate, tokens)
WHERE g.name = r.gate

-- name: park_jobs
-- Claimed a moment ago in this transaction, but there is no room: as if they had not been.
UPDATE tenure_jobs j SET state = 0, hold = j.hold | 4, attempt = j.attempt - 1, lease_until = NULL,
    started_at = CASE WHEN j.attempt + j.refunds + j.snoozes > 1 THEN j.started_at END, limit_key = r.gate,
    standing = CASE WHEN j.standing >= 2 THEN 2 ELSE 0 END
FROM unnest(:id::bigint[], :gate::text[]) AS r (id, gate)
WHERE j.id = ANY(ARRAY(SELECT unnest(:id::bigint[]))) AND j.id = r.id

-- name: parked_gates
-- The gates of a kind at which somebody waits, by jumping through the index from one to the next.
SELECT gate.name
FROM (
    SELECT * FROM unnest(:gate::text[], :behind::text[]) LIMIT cardinality(:gate::text[])
) AS r (gate, behind)
CROSS JOIN LATERAL (
    WITH RECURSIVE jump AS (
        (SELECT j.limit_key AS name FROM tenure_jobs j
            WHERE j.limit_key >= r.gate AND j.limit_key < r.behind AND state = 0 AND hold + 0 = 4
            ORDER BY j.limit_key LIMIT 1)
        UNION ALL
        SELECT n.name FROM jump CROSS JOIN LATERAL (
            SELECT j.limit_key AS name FROM tenure_jobs j
            WHERE j.limit_key > jump.name AND j.limit_key < r.behind AND state = 0 AND hold + 0 = 4
            ORDER BY j.limit_key LIMIT 1) n
    )
    SELECT name FROM jump LIMIT :lanes::bigint
) gate

-- name: parked_lanes
-- Who waits at each gate: its lanes behind a place, as in claim_lanes.
SELECT g.gate, g.queue, lane.priority, lane.tenant
FROM (
    SELECT * FROM unnest(:gate::text[], :queue::text[], :after_priority::bigint[],
        :after_tenant::text[]) LIMIT cardinality(:gate::text[])
) AS g (gate, queue, after_priority, after_tenant)
CROSS JOIN LATERAL (
    WITH RECURSIVE jump AS (
        (SELECT j.priority, j.tenant FROM tenure_jobs j
            WHERE j.limit_key = g.gate AND j.queue = g.queue AND state = 0 AND hold + 0 = 4
                AND (j.priority, j.tenant) > (g.after_priority, g.after_tenant)
            ORDER BY j.priority, j.tenant LIMIT 1)
        UNION ALL
        SELECT n.priority, n.tenant FROM jump CROSS JOIN LATERAL (
            SELECT j.priority, j.tenant FROM tenure_jobs j
            WHERE j.limit_key = g.gate AND j.queue = g.queue AND state = 0 AND hold + 0 = 4
                AND (j.priority, j.tenant) > (jump.priority, jump.tenant)
            ORDER BY j.priority, j.tenant LIMIT 1) n
    )
    SELECT priority, tenant FROM jump LIMIT :lanes::bigint
) lane

-- name: claim_parked
-- The best of those that wait at a gate that has room.
UPDATE tenure_jobs SET {as_claimed}, hold = 0
WHERE id = ANY(ARRAY(
    SELECT due.id
    FROM (
        SELECT * FROM unnest(:gate::text[], :queue::text[], :priority::int[], :tenant::text[],
            :take::bigint[]) LIMIT cardinality(:gate::text[])
    ) AS lane (gate, queue, priority, tenant, take)
    CROSS JOIN LATERAL (
        SELECT j.id FROM tenure_jobs j
        WHERE j.limit_key = lane.gate AND j.queue = lane.queue AND j.priority = lane.priority
            AND j.tenant = lane.tenant AND state = 0 AND hold + 0 = 4 AND j.run_at <= {now}
            AND (j.expires_at IS NULL OR j.started_at IS NOT NULL OR j.expires_at > {now})
        ORDER BY j.run_at, j.id LIMIT lane.take FOR UPDATE SKIP LOCKED
    ) due))
RETURNING {claimed}

-- name: unpark_jobs
-- There is no limit here any more: back among the others.
UPDATE tenure_jobs SET hold = 0
WHERE id = ANY(ARRAY(SELECT id FROM tenure_jobs
    WHERE limit_key = :gate::text AND state = 0 AND hold + 0 = 4 LIMIT :limit::bigint FOR UPDATE SKIP LOCKED))
RETURNING id, queue, priority, tenant

-- name: running_of_tenants
-- By the leases: few run, and a tenant may have millions of rows.
SELECT tenant, count(*) FROM tenure_jobs
WHERE state = 1 AND lease_until >= {now} AND tenant || '' = ANY(:tenants::text[])
GROUP BY tenant

-- name: purge_gates
-- Full buckets need no row.
DELETE FROM tenure_gates WHERE name = ANY(ARRAY(SELECT name FROM tenure_gates
    WHERE full_at < {now} - :age::bigint LIMIT :limit::bigint FOR UPDATE SKIP LOCKED))
