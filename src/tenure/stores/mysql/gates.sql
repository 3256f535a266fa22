-- Limits: a job that comes up while its gate is closed is parked, out of the due index, and claimed from there.

-- name: mark_gates
-- each
-- Under which key of its kind this job is limited.
UPDATE tenure_jobs FORCE INDEX (PRIMARY) SET limit_key = :gate WHERE id = :id

-- name: charge_gate
-- So many more run, where that is surely within the limit: `running` is at least what runs.
SELECT 1, running + :jobs FROM tenure_gates FORCE INDEX (PRIMARY)
WHERE name = :gate AND running + :jobs <= :most FOR UPDATE;
UPDATE tenure_gates FORCE INDEX (PRIMARY) SET running = running + :jobs
WHERE name = :gate AND running + :jobs <= :most

-- name: lock_gates
-- Until the end of the transaction nobody else lets a job in here.
SELECT name, tokens, refilled_at FROM tenure_gates FORCE INDEX (PRIMARY)
WHERE name IN :gates ORDER BY name FOR UPDATE

-- name: add_gates
-- each
-- A gate that was not used lately: its bucket is full.
INSERT INTO tenure_gates (name, tokens, refilled_at, full_at) VALUES (:gate, :tokens, {now}, {now})
ON DUPLICATE KEY UPDATE name = tenure_gates.name

-- name: count_gates
-- each
-- How many run at a gate under a lease that is alive, and when that was.
SELECT :gate, count(*), {now} FROM tenure_jobs FORCE INDEX (tenure_jobs_counted)
WHERE counted_at_gate >= :gate AND counted_at_gate < :behind AND lease_until >= {now}

-- name: note_gates
-- each
-- What runs now, and the tokens that are left.
UPDATE tenure_gates FORCE INDEX (PRIMARY)
SET running = :running, tokens = :tokens, refilled_at = :refilled_at, full_at = :full_at
WHERE name = :gate

-- name: refund_gates
-- each
-- Jobs that passed here were given back before they began: their tokens are there for others.
UPDATE tenure_gates SET tokens = tokens + :tokens WHERE name = :gate

-- name: park_jobs
-- each
-- Claimed a moment ago in this transaction, but there is no room: as if it had not been.
UPDATE tenure_jobs FORCE INDEX (PRIMARY)
SET started_at = CASE WHEN attempt + refunds + snoozes > 1 THEN started_at END, state = 0, hold = hold | 4,
    attempt = attempt - 1, lease_until = NULL, limit_key = :gate,
    standing = CASE WHEN standing >= 2 THEN 2 ELSE 0 END
WHERE id = :id

-- name: parked_gates
-- each
-- The gates of a kind at which somebody waits, by jumping through the index from one to the next.
SELECT parked_at_gate AS gate FROM tenure_jobs FORCE INDEX (tenure_jobs_parked_at)
WHERE parked_at_gate >= :gate AND parked_at_gate < :behind
ORDER BY parked_at_gate LIMIT 1;
/*again*/
SELECT parked_at_gate AS gate FROM tenure_jobs FORCE INDEX (tenure_jobs_parked_at)
WHERE parked_at_gate > :gate AND parked_at_gate < :behind
ORDER BY parked_at_gate LIMIT 1

-- name: parked_lanes
-- each
-- Who waits at a gate: its lanes behind a place, as in claim_lanes.
(SELECT parked_at_gate AS gate, queue, priority, tenant FROM tenure_jobs
    FORCE INDEX (tenure_jobs_parked_at)
    WHERE parked_at_gate = :gate AND queue = :queue AND priority = :after_priority
        AND tenant > :after_tenant
    ORDER BY tenant LIMIT 1)
UNION ALL
(SELECT parked_at_gate, queue, priority, tenant FROM tenure_jobs
    FORCE INDEX (tenure_jobs_parked_at)
    WHERE parked_at_gate = :gate AND queue = :queue AND priority > :after_priority
    ORDER BY priority, tenant LIMIT 1)
ORDER BY priority, tenant LIMIT 1;
/*again*/
(SELECT parked_at_gate AS gate, queue, priority, tenant FROM tenure_jobs
    FORCE INDEX (tenure_jobs_parked_at)
    WHERE parked_at_gate = :gate AND queue = :queue AND priority = :priority AND tenant > :tenant
    ORDER BY tenant LIMIT 1)
UNION ALL
(SELECT parked_at_gate, queue, priority, tenant FROM tenure_jobs
    FORCE INDEX (tenure_jobs_parked_at)
    WHERE parked_at_gate = :gate AND queue = :queue AND priority > :priority
    ORDER BY priority, tenant LIMIT 1)
ORDER BY priority, tenant LIMIT 1

-- name: claim_parked
-- each
-- The best of those that wait at a gate that has room, as the UPDATE will leave them.
SELECT {claimed}
FROM tenure_jobs FORCE INDEX (tenure_jobs_parked_at)
WHERE parked_at_gate = :gate AND queue = :queue AND priority = :priority AND tenant = :tenant
    AND run_at <= {now} AND (expires_at IS NULL OR started_at IS NOT NULL OR expires_at > {now})
ORDER BY run_at, id LIMIT :take FOR UPDATE SKIP LOCKED;
UPDATE tenure_jobs FORCE INDEX (PRIMARY) SET {as_claimed}, hold = 0
WHERE id IN :ids

-- name: unpark_jobs
-- There is no limit here any more: back among the others.
SELECT id, queue, priority, tenant FROM tenure_jobs FORCE INDEX (tenure_jobs_parked_at)
WHERE parked_at_gate = :gate LIMIT :limit FOR UPDATE SKIP LOCKED;
UPDATE tenure_jobs FORCE INDEX (PRIMARY) SET hold = 0 WHERE id IN :ids

-- name: running_of_tenants
SELECT tenant, count(*) FROM tenure_jobs FORCE INDEX (tenure_jobs_leased)
WHERE running_until >= {now} AND tenant IN :tenants
GROUP BY tenant

-- name: purge_gates
-- Full buckets need no row.
DELETE FROM tenure_gates WHERE full_at < {now} - :age LIMIT :limit
