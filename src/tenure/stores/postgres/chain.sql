-- Jobs that have to do with others: one at a time per ordering key, and who is set free when one ends.

-- name: chained_jobs
-- Those of these jobs whose end somebody waits for.
SELECT id, chained, kind, tenant, ordering_key FROM tenure_jobs
WHERE id = ANY(ARRAY(SELECT unnest(:ids::bigint[]))) AND chained <> 0

-- name: lock_orders
-- Until the end of the transaction nobody else publishes or promotes under these keys. Written, not
-- only locked: a caller whose snapshot is older must fail rather than overlook somebody.
INSERT INTO tenure_order_locks (bucket)
SELECT bucket FROM unnest(:bucket::int[]) AS r (bucket) ORDER BY bucket
ON CONFLICT (bucket) DO UPDATE SET bucket = excluded.bucket

-- name: try_orders
-- The same for those of these keys that nobody else has locked; without waiting for the others.
UPDATE tenure_order_locks SET bucket = bucket WHERE bucket = ANY(ARRAY(
    SELECT bucket FROM tenure_order_locks WHERE bucket = ANY(:ids::int[])
    ORDER BY bucket FOR UPDATE SKIP LOCKED))
RETURNING bucket

-- name: known_orders
-- Locks that are there, whoever has them.
SELECT bucket FROM tenure_order_locks WHERE bucket = ANY(:ids::int[])

-- name: busy_orders
-- Keys under which somebody waits, runs, or stands in the way because it failed.
SELECT r.tenant, r.ordering_key
FROM unnest(:tenant::text[], :ordering_key::text[]) AS r (tenant, ordering_key)
WHERE EXISTS (SELECT 1 FROM tenure_jobs j
    WHERE j.tenant = r.tenant AND j.ordering_key = r.ordering_key AND j.ordering_key IS NOT NULL
        AND j.state IN (0, 1, 3, 4) AND (j.state IN (0, 1) OR j.chained & 2 = 0))

-- name: tie_jobs
-- What the end of these has to see to, and why they may not run yet.
UPDATE tenure_jobs j SET chained = j.chained | r.chained, hold = j.hold | r.hold
FROM unnest(:id::bigint[], :chained::int[], :hold::int[]) AS r (id, chained, hold)
WHERE j.id = ANY(ARRAY(SELECT unnest(:id::bigint[]))) AND j.id = r.id

-- name: promote_next
-- The first that waits under each key, unless another is at the head or stands in the way.
UPDATE tenure_jobs SET hold = hold - 1
WHERE id = ANY(ARRAY(
    SELECT n.id FROM unnest(:tenant::text[], :ordering_key::text[]) AS r (tenant, ordering_key)
    CROSS JOIN LATERAL (
        SELECT j.id FROM tenure_jobs j
        WHERE j.tenant = r.tenant AND j.ordering_key = r.ordering_key
            AND j.ordering_key IS NOT NULL AND j.state IN (0, 1, 3, 4)
            AND j.state = 0 AND j.hold & 1 = 1
        ORDER BY j.id LIMIT 1) n
    WHERE NOT EXISTS (SELECT 1 FROM tenure_jobs h
        WHERE h.tenant = r.tenant AND h.ordering_key = r.ordering_key
            AND h.ordering_key IS NOT NULL AND h.state IN (0, 1, 3, 4)
            AND h.hold & 1 = 0 AND (h.state IN (0, 1) OR h.chained & 2 = 0))))
RETURNING id, queue, priority, tenant

-- name: hold_behind
-- Jobs that start anew wait while another is at the head of their key, or an earlier one of them.
UPDATE tenure_jobs SET hold = hold | 1
WHERE id = ANY(ARRAY(SELECT unnest(:ids::bigint[]))) AND chained & 1 = 1 AND state + 0 = 0
    AND hold & 1 = 0
    AND EXISTS (SELECT 1 FROM tenure_jobs h
        WHERE h.tenant = tenure_jobs.tenant AND h.ordering_key = tenure_jobs.ordering_key
            AND h.ordering_key IS NOT NULL AND h.state IN (0, 1, 3, 4) AND h.hold & 1 = 0
            AND (h.state = 1 OR h.id < tenure_jobs.id
                OR (h.state = 0 AND NOT h.id = ANY(:ids::bigint[])))
            AND (h.state IN (0, 1) OR h.chained & 2 = 0) AND h.id <> tenure_jobs.id)
RETURNING id

-- name: held_edge
-- The last of the next so many held jobs, and how many they are.
SELECT max(id), count(*) FROM (
    SELECT id FROM tenure_jobs WHERE state = 0 AND hold <> 0 AND id > :after ORDER BY id LIMIT :limit
) held

-- name: stopped_orders
-- Keys of these held jobs under which somebody waits for nobody: no other is at the head or stands in the way.
SELECT k.tenant, k.ordering_key FROM (
    SELECT DISTINCT tenant, ordering_key FROM tenure_jobs
    WHERE state = 0 AND hold <> 0 AND id > :after AND id <= :edge AND hold & 1 = 1
) k
LEFT JOIN LATERAL (SELECT h.id FROM tenure_jobs h
    WHERE h.tenant = k.tenant AND h.ordering_key = k.ordering_key AND h.ordering_key IS NOT NULL
        AND h.state IN (0, 1, 3, 4) AND h.hold & 1 = 0 AND (h.state IN (0, 1) OR h.chained & 2 = 0)
    LIMIT 1) h ON true
WHERE h.id IS NULL
ORDER BY k.tenant, k.ordering_key
