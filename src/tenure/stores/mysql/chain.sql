-- Jobs that have to do with others: one at a time per ordering key, and who is set free when one ends.

-- name: chained_jobs
-- Those of these jobs whose end somebody waits for.
SELECT id, chained, kind, tenant, ordering_key FROM tenure_jobs FORCE INDEX (PRIMARY)
WHERE id IN :ids AND chained <> 0

-- name: lock_orders
-- each
-- Until the end of the transaction nobody else publishes or promotes under this key.
INSERT INTO tenure_order_locks (bucket) VALUES (:bucket)
ON DUPLICATE KEY UPDATE bucket = tenure_order_locks.bucket

-- name: try_orders
-- The same for those of these keys that nobody else has locked; without waiting for the others.
SELECT bucket FROM tenure_order_locks FORCE INDEX (PRIMARY)
WHERE bucket IN :ids ORDER BY bucket FOR UPDATE SKIP LOCKED

-- name: known_orders
-- Locks that are there, whoever has them.
SELECT bucket FROM tenure_order_locks FORCE INDEX (PRIMARY) WHERE bucket IN :ids

-- name: busy_orders
-- each
-- Whether somebody waits, runs, or stands in the way under this key because it failed: as it is
-- now, whatever the caller's snapshot says.
SELECT tenant, ordering_key FROM tenure_jobs FORCE INDEX (tenure_jobs_order)
WHERE tenant = :tenant AND order_live = :ordering_key AND (state IN (0, 1) OR chained & 2 = 0)
LIMIT 1 LOCK IN SHARE MODE

-- name: tie_jobs
-- each
-- What the end of this one has to see to, and why it may not run yet.
UPDATE tenure_jobs FORCE INDEX (PRIMARY) SET chained = chained | :chained, hold = hold | :hold
WHERE id = :id

-- name: promote_next
-- each
-- The first that waits under this key, unless another is at the head or stands in the way: as it is
-- now, whatever the caller's snapshot says.
SELECT j.id, j.queue, j.priority, j.tenant FROM tenure_jobs j FORCE INDEX (tenure_jobs_order)
WHERE j.tenant = :tenant AND j.order_live = :ordering_key AND j.state = 0 AND j.hold & 1 = 1
    AND NOT EXISTS (SELECT 1 FROM tenure_jobs h FORCE INDEX (tenure_jobs_order)
        WHERE h.tenant = :tenant AND h.order_live = :ordering_key AND h.hold & 1 = 0
            AND (h.state IN (0, 1) OR h.chained & 2 = 0) LOCK IN SHARE MODE)
ORDER BY j.id LIMIT 1 FOR UPDATE;
UPDATE tenure_jobs FORCE INDEX (PRIMARY) SET hold = hold - 1 WHERE id IN :ids AND hold & 1 = 1

-- name: hold_behind
-- Jobs that start anew wait while another is at the head of their key, or an earlier one of them.
SELECT j.id FROM tenure_jobs j FORCE INDEX (PRIMARY)
WHERE j.id IN :ids AND j.chained & 1 = 1 AND j.state = 0 AND j.hold & 1 = 0
    AND EXISTS (SELECT 1 FROM tenure_jobs h FORCE INDEX (tenure_jobs_order)
        WHERE h.tenant = j.tenant AND h.order_live = j.ordering_key AND h.hold & 1 = 0
            AND (h.state = 1 OR h.id < j.id OR (h.state = 0 AND h.id NOT IN :ids))
            AND (h.state IN (0, 1) OR h.chained & 2 = 0) AND h.id <> j.id);
UPDATE tenure_jobs FORCE INDEX (PRIMARY) SET hold = hold | 1 WHERE id IN :ids

-- name: held_edge
-- The last of the next so many held jobs, and how many they are.
SELECT max(id), count(*) FROM (
    SELECT id FROM tenure_jobs FORCE INDEX (tenure_jobs_aside)
    WHERE aside = 2 AND id > :after ORDER BY id LIMIT :limit
) held

-- name: stopped_orders
-- Keys of these held jobs under which somebody waits for nobody: no other is at the head or stands in the way.
SELECT k.tenant, k.ordering_key FROM (
    SELECT DISTINCT tenant, ordering_key FROM tenure_jobs FORCE INDEX (tenure_jobs_aside)
    WHERE aside = 2 AND id > :after AND id <= :edge AND hold & 1 = 1
) k
WHERE NOT EXISTS (SELECT 1 FROM tenure_jobs h FORCE INDEX (tenure_jobs_order)
    WHERE h.tenant = k.tenant AND h.order_live = k.ordering_key AND h.hold & 1 = 0
        AND (h.state IN (0, 1) OR h.chained & 2 = 0))
ORDER BY k.tenant, k.ordering_key
