-- Limits: a job that comes up while its gate is closed is parked, out of the due index, and claimed from there.

-- name: mark_gates
-- Under which key of their kind these jobs are limited.
UPDATE tenure_jobs SET limit_key = r.value ->> 1
FROM json_each(:rows) r WHERE tenure_jobs.id = r.value ->> 0

-- name: charge_gate
-- So many more run, where that is surely within the limit: `running` is at least what runs.
UPDATE tenure_gates SET running = running + :jobs
WHERE name = :gate AND running + :jobs <= :most
RETURNING running

-- name: lock_gates
-- The one writer is the lock.
SELECT name, tokens, refilled_at FROM tenure_gates
WHERE name IN (SELECT value FROM json_each(:gates)) ORDER BY name

-- name: add_gates
-- A gate that was not used lately: its bucket is full.
INSERT INTO tenure_gates (name, tokens, refilled_at, full_at)
SELECT r.value ->> 0, r.value ->> 1, {now}, {now} FROM json_each(:rows) r WHERE true
ON CONFLICT (name) DO NOTHING

-- name: count_gates
-- each
-- How many run at a gate under a lease that is alive, and when that was.
SELECT :gate, (SELECT count(*) FROM tenure_jobs j
    WHERE j.state = 1 AND j.limit_key >= :gate AND j.limit_key < :behind
        AND j.limit_key IS NOT NULL AND j.lease_until >= {now}), {now}

-- name: count_keys
-- each
-- The same for a gate of a key.
SELECT :gate, (SELECT count(*) FROM tenure_jobs j
    WHERE j.state = 1 AND j.limit_key = :gate AND j.limit_key IS NOT NULL AND j.lease_until >= {now}), {now}

-- name: note_gates
-- each
-- What runs now, and the tokens that are left.
UPDATE tenure_gates SET running = :running, tokens = :tokens, refilled_at = :refilled_at,
    full_at = :full_at
WHERE name = :gate

-- name: refund_gates
-- Jobs that passed here were given back before they began: their tokens are there for others.
UPDATE tenure_gates SET tokens = tokens + (r.value ->> 1)
FROM json_each(:rows) r WHERE name = r.value ->> 0

-- name: park_jobs
-- Claimed a moment ago in this transaction, but there is no room: as if they had not been.
UPDATE tenure_jobs SET state = 0, hold = hold | 4, attempt = attempt - 1, lease_until = NULL,
    started_at = CASE WHEN attempt + refunds + snoozes > 1 THEN started_at END, limit_key = r.value ->> 1,
    standing = CASE WHEN standing >= 2 THEN 2 ELSE 0 END
FROM json_each(:rows) r WHERE tenure_jobs.id = r.value ->> 0

-- name: parked_gates
-- each
-- The gates of a kind at which somebody waits, by jumping through the index from one to the next.
WITH RECURSIVE jump (name) AS (
    SELECT (SELECT j.limit_key FROM tenure_jobs j
        WHERE j.limit_key >= :gate AND j.limit_key < :behind AND j.limit_key IS NOT NULL AND state = 0 AND hold = 4
        ORDER BY j.limit_key LIMIT 1)
    UNION ALL
    SELECT (SELECT j.limit_key FROM tenure_jobs j
        WHERE j.limit_key > jump.name AND j.limit_key < :behind AND j.limit_key IS NOT NULL
            AND state = 0 AND hold = 4
        ORDER BY j.limit_key LIMIT 1)
    FROM jump WHERE jump.name IS NOT NULL
    LIMIT :lanes
)
SELECT name FROM jump WHERE name IS NOT NULL

-- name: parked_lanes
-- each
-- Who waits at a gate: its lanes behind a place, as in claim_lanes.
WITH RECURSIVE lane (id) AS (
    SELECT coalesce(
        (SELECT j.id FROM tenure_jobs j
            WHERE j.limit_key = :gate AND j.queue = :queue AND j.priority = :after_priority
                AND j.tenant > :after_tenant AND j.limit_key IS NOT NULL AND state = 0 AND hold = 4
            ORDER BY j.tenant, j.run_at, j.id LIMIT 1),
        (SELECT j.id FROM tenure_jobs j
            WHERE j.limit_key = :gate AND j.queue = :queue AND j.priority > :after_priority
                AND j.limit_key IS NOT NULL AND state = 0 AND hold = 4
            ORDER BY j.priority, j.tenant, j.run_at, j.id LIMIT 1))
    UNION ALL
    SELECT coalesce(
        (SELECT n.id FROM tenure_jobs n
            WHERE n.limit_key = :gate AND n.queue = :queue AND n.priority = p.priority
                AND n.tenant > p.tenant AND n.limit_key IS NOT NULL AND state = 0 AND hold = 4
            ORDER BY n.tenant, n.run_at, n.id LIMIT 1),
        (SELECT n.id FROM tenure_jobs n
            WHERE n.limit_key = :gate AND n.queue = :queue AND n.priority > p.priority
                AND n.limit_key IS NOT NULL AND state = 0 AND hold = 4
            ORDER BY n.priority, n.tenant, n.run_at, n.id LIMIT 1))
    FROM lane JOIN tenure_jobs p ON p.id = lane.id
    LIMIT :lanes
)
SELECT :gate, p.queue, p.priority, p.tenant FROM lane JOIN tenure_jobs p ON p.id = lane.id

-- name: claim_parked
-- each
-- The best of those that wait at a gate that has room.
UPDATE tenure_jobs SET {as_claimed}, hold = 0
WHERE id IN (SELECT id FROM tenure_jobs
    WHERE limit_key = :gate AND queue = :queue AND priority = :priority AND tenant = :tenant
        AND limit_key IS NOT NULL AND state = 0 AND hold = 4 AND run_at <= {now}
        AND (expires_at IS NULL OR started_at IS NOT NULL OR expires_at > {now})
    ORDER BY run_at, id LIMIT :take)
RETURNING {claimed}

-- name: unpark_jobs
-- There is no limit here any more: back among the others.
UPDATE tenure_jobs SET hold = 0
WHERE id IN (SELECT id FROM tenure_jobs
    WHERE limit_key = :gate AND limit_key IS NOT NULL AND state = 0 AND hold = 4 LIMIT :limit)
RETURNING id, queue, priority, tenant

-- name: running_of_tenants
SELECT tenant, count(*) FROM tenure_jobs
WHERE state = 1 AND lease_until >= {now} AND tenant IN (SELECT value FROM json_each(:tenants))
GROUP BY tenant

-- name: purge_gates
-- Full buckets need no row.
DELETE FROM tenure_gates WHERE name IN (SELECT name FROM tenure_gates
    WHERE full_at < {now} - :age LIMIT :limit)
