-- Limits: a job that comes up while its gate is closed is parked, out of the due index, and claimed from there.

-- name: mark_gates
-- Under which key of their kind these jobs are limited.
UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS (id BIGINT PATH '$.id', gate VARCHAR(400) PATH '$.gate')) r
STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = r.id
SET j.limit_key = r.gate

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
-- Gates that were not used lately: their buckets are full.
INSERT INTO tenure_gates (name, tokens, refilled_at, full_at) VALUES
/*row*/ (:gate, :tokens, {now}, {now}) /*row*/
ON DUPLICATE KEY UPDATE name = tenure_gates.name

-- name: count_gates
-- each
-- How many run at a kind's gate under a lease that is alive, and when that was.
SELECT :gate, count(*), {now} FROM tenure_jobs FORCE INDEX (tenure_jobs_counted)
WHERE counted_at_gate >= :gate AND counted_at_gate < :behind AND lease_until >= {now}

-- name: count_keys
-- The same for gates of keys.
SELECT r.gate, (SELECT count(*) FROM tenure_jobs j FORCE INDEX (tenure_jobs_counted)
    WHERE j.counted_at_gate = r.gate AND j.lease_until >= {now}), {now}
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (gate VARCHAR(400) PATH '$.gate')) r

-- name: note_gates
-- What runs now, and the tokens that are left. All of these rows exist: we have locked them.
INSERT INTO tenure_gates (name, running, tokens, refilled_at, full_at) VALUES
/*row*/ (:gate, :running, :tokens, :refilled_at, :full_at) /*row*/
ON DUPLICATE KEY UPDATE running = VALUES(running), tokens = VALUES(tokens), refilled_at = VALUES(refilled_at),
    full_at = VALUES(full_at)

-- name: refund_gates
-- each
-- Jobs that passed here were given back before they began: their tokens are there for others.
UPDATE tenure_gates SET tokens = tokens + :tokens WHERE name = :gate

-- name: park_jobs
-- Claimed a moment ago in this transaction, but there is no room: as if they had not been.
UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS (id BIGINT PATH '$.id', gate VARCHAR(400) PATH '$.gate')) r
STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = r.id
SET j.started_at = CASE WHEN j.attempt + j.refunds + j.snoozes > 1 THEN j.started_at END, j.state = 0,
    j.hold = j.hold | 4, j.attempt = j.attempt - 1, j.lease_until = NULL, j.limit_key = r.gate,
    j.standing = CASE WHEN j.standing >= 2 THEN 2 ELSE 0 END

-- name: parked_gates
-- each
-- The gates of a kind at which somebody waits, by jumping through the index. A jump shows the gates of some entries at
-- once: most gates have few.
SELECT DISTINCT gate FROM (
    SELECT parked_at_gate AS gate FROM tenure_jobs FORCE INDEX (tenure_jobs_parked_at)
    WHERE parked_at_gate >= :gate AND parked_at_gate < :behind
    ORDER BY parked_at_gate LIMIT 64) some ORDER BY gate;
/*again*/
SELECT DISTINCT gate FROM (
    SELECT parked_at_gate AS gate FROM tenure_jobs FORCE INDEX (tenure_jobs_parked_at)
    WHERE parked_at_gate > :gate AND parked_at_gate < :behind
    ORDER BY parked_at_gate LIMIT 64) some ORDER BY gate

-- name: parked_lanes
-- together
-- Who waits at each gate: its lanes behind a place, as in claim_lanes; and whether there are `more` than the first. Most
-- gates have one lane: then this is all.
SELECT first.parked_at_gate AS gate, first.queue, first.priority, first.tenant,
    first.priority <> last.priority OR first.tenant <> last.tenant AS more
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (gate VARCHAR(400) PATH '$.gate', queue VARCHAR(100) PATH '$.queue',
    after_priority INT PATH '$.after_priority', after_tenant VARCHAR(100) PATH '$.after_tenant')) r
STRAIGHT_JOIN tenure_jobs first FORCE INDEX (PRIMARY) ON first.id = (
    SELECT j.id FROM tenure_jobs j FORCE INDEX (tenure_jobs_parked_at)
    WHERE j.parked_at_gate = r.gate AND j.queue = r.queue AND (j.priority > r.after_priority
        OR j.priority = r.after_priority AND j.tenant > r.after_tenant)
    ORDER BY j.priority, j.tenant, j.run_at, j.id LIMIT 1)
STRAIGHT_JOIN tenure_jobs last FORCE INDEX (PRIMARY) ON last.id = (
    SELECT j.id FROM tenure_jobs j FORCE INDEX (tenure_jobs_parked_at)
    WHERE j.parked_at_gate = r.gate AND j.queue = r.queue
    ORDER BY j.priority DESC, j.tenant DESC, j.run_at DESC, j.id DESC LIMIT 1);
/*again*/
SELECT * FROM (
    (SELECT parked_at_gate AS gate, queue, priority, tenant, 1 AS more FROM tenure_jobs
        FORCE INDEX (tenure_jobs_parked_at)
        WHERE parked_at_gate = :gate AND queue = :queue AND priority = :priority AND tenant > :tenant
        ORDER BY tenant LIMIT 1)
    UNION ALL
    (SELECT parked_at_gate, queue, priority, tenant, 1 FROM tenure_jobs
        FORCE INDEX (tenure_jobs_parked_at)
        WHERE parked_at_gate = :gate AND queue = :queue AND priority > :priority
        ORDER BY priority, tenant LIMIT 1)
    ORDER BY priority, tenant LIMIT 1) following

-- name: claim_parked
-- together
-- The best of those that wait at a gate that has room, as the UPDATE will leave them. They are looked up for all lanes,
-- then locked by their ids.
SELECT id FROM tenure_jobs FORCE INDEX (tenure_jobs_parked_at)
WHERE parked_at_gate = :gate AND queue = :queue AND priority = :priority AND tenant = :tenant
    AND run_at <= {now} AND (expires_at IS NULL OR started_at IS NOT NULL OR expires_at > {now})
ORDER BY run_at, id LIMIT :take;
SELECT {claimed} FROM tenure_jobs FORCE INDEX (PRIMARY)
WHERE id IN :ids AND state = 0 AND hold = 4 FOR UPDATE SKIP LOCKED;
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
