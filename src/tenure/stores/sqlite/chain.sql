-- Jobs that have to do with others: one at a time per ordering key, and who is set free when one ends.

-- name: chained_jobs
-- Those of these jobs whose end somebody waits for.
SELECT id, chained, kind, tenant, ordering_key FROM tenure_jobs
WHERE id IN (SELECT value FROM json_each(:ids)) AND chained <> 0

-- name: lock_orders
-- The one writer is the lock; a write makes sure that we are it.
INSERT INTO tenure_order_locks (bucket) SELECT value ->> 0 FROM json_each(:rows) WHERE true
ON CONFLICT (bucket) DO NOTHING

-- name: try_orders
-- All of them: the one writer is us.
SELECT value FROM json_each(:ids)

-- name: known_orders
-- Locks that are there.
SELECT bucket FROM tenure_order_locks WHERE bucket IN (SELECT value FROM json_each(:ids))

-- name: busy_orders
-- Keys under which somebody waits, runs, or stands in the way because it failed.
SELECT r.value ->> 0, r.value ->> 1 FROM json_each(:rows) r
WHERE EXISTS (SELECT 1 FROM tenure_jobs j
    WHERE j.tenant = r.value ->> 0 AND j.ordering_key = r.value ->> 1
        AND j.ordering_key IS NOT NULL AND j.state IN (0, 1, 3, 4)
        AND (j.state IN (0, 1) OR j.chained & 2 = 0))

-- name: tie_jobs
-- What the end of these has to see to, and why they may not run yet.
UPDATE tenure_jobs SET chained = chained | (r.value ->> 1), hold = hold | (r.value ->> 2)
FROM json_each(:rows) r WHERE tenure_jobs.id = r.value ->> 0

-- name: promote_next
-- each
-- The first that waits under this key, unless another is at the head or stands in the way.
UPDATE tenure_jobs SET hold = hold - 1
WHERE id = (SELECT j.id FROM tenure_jobs j
    WHERE j.tenant = :tenant AND j.ordering_key = :ordering_key AND j.ordering_key IS NOT NULL
        AND j.state IN (0, 1, 3, 4) AND j.state = 0 AND j.hold & 1 = 1
    ORDER BY j.id LIMIT 1)
    AND NOT EXISTS (SELECT 1 FROM tenure_jobs h
        WHERE h.tenant = :tenant AND h.ordering_key = :ordering_key
            AND h.ordering_key IS NOT NULL AND h.state IN (0, 1, 3, 4)
            AND h.hold & 1 = 0 AND (h.state IN (0, 1) OR h.chained & 2 = 0))
RETURNING id, queue, priority, tenant

-- name: hold_behind
-- Jobs that start anew wait while another is at the head of their key, or an earlier one of them.
UPDATE tenure_jobs SET hold = hold | 1
WHERE id IN (SELECT value FROM json_each(:ids)) AND chained & 1 = 1 AND +state = 0
    AND hold & 1 = 0
    AND EXISTS (SELECT 1 FROM tenure_jobs h
        WHERE h.tenant = tenure_jobs.tenant AND h.ordering_key = tenure_jobs.ordering_key
            AND h.ordering_key IS NOT NULL AND h.state IN (0, 1, 3, 4) AND h.hold & 1 = 0
            AND (h.state = 1 OR h.id < tenure_jobs.id
                OR (h.state = 0 AND h.id NOT IN (SELECT value FROM json_each(:ids))))
            AND (h.state IN (0, 1) OR h.chained & 2 = 0) AND h.id <> tenure_jobs.id)
RETURNING id

-- name: held_edge
-- The last of the next so many held jobs, and how many they are.
SELECT max(id), count(*) FROM (
    SELECT id FROM tenure_jobs INDEXED BY tenure_jobs_held
    WHERE state = 0 AND hold <> 0 AND id > :after ORDER BY id LIMIT :limit
)

-- name: stopped_orders
-- Keys of these held jobs under which somebody waits for nobody: no other is at the head or stands in the way.
SELECT k.tenant, k.ordering_key FROM (
    SELECT DISTINCT tenant, ordering_key FROM tenure_jobs INDEXED BY tenure_jobs_held
    WHERE state = 0 AND hold <> 0 AND id > :after AND id <= :edge AND hold & 1 = 1
) k
WHERE NOT EXISTS (SELECT 1 FROM tenure_jobs h INDEXED BY tenure_jobs_order
    WHERE h.tenant = k.tenant AND h.ordering_key = k.ordering_key AND h.ordering_key IS NOT NULL
        AND h.state IN (0, 1, 3, 4) AND h.hold & 1 = 0
        AND (h.state IN (0, 1) OR h.chained & 2 = 0))
ORDER BY k.tenant, k.ordering_key
