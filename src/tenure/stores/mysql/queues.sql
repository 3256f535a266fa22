-- What queues are told to do: jobs without a handler's word find their queue, old ones are lifted, tenants do not share.

-- name: find_unplaced
-- Waiting jobs of these kinds that were added without knowing their handler. Their index is nearly always empty.
SELECT id, kind, unplaced FROM tenure_jobs FORCE INDEX (tenure_jobs_unplaced)
WHERE unplaced_kind IN :kinds LIMIT :limit FOR UPDATE SKIP LOCKED

-- name: place_jobs
-- each
-- What its handler says, where nothing else was given.
UPDATE tenure_jobs FORCE INDEX (PRIMARY) SET queue = coalesce(:queue, queue),
    priority = coalesce(:priority, priority), max_attempts = coalesce(:max_attempts, max_attempts), unplaced = 0
WHERE id = :id AND state = 0

-- name: claim_ages
-- each
-- How old the first jobs of a lane are, behind its floor: where tenants do not share, the oldest goes first.
SELECT due_queue, priority, tenant, run_at, id FROM tenure_jobs FORCE INDEX (tenure_jobs_due)
WHERE due_queue = :queue AND priority = :priority AND tenant = :tenant
    AND run_at <= {now} AND run_at >= :floor_run_at
    AND (run_at > :floor_run_at OR id > :floor_id) AND kind IN :kinds
    AND (expires_at IS NULL OR started_at IS NOT NULL OR expires_at > {now})
ORDER BY run_at, id LIMIT :first

-- name: old_jobs
-- each
-- The jobs of a lane that have waited for so long, behind the place that the last look reached.
SELECT due_queue, priority, tenant, run_at, id, lifted FROM tenure_jobs FORCE INDEX (tenure_jobs_due)
WHERE due_queue = :queue AND priority = :priority AND tenant = :tenant
    AND run_at <= {now} - :ageing AND run_at >= :floor_run_at
    AND (run_at > :floor_run_at OR id > :floor_id)
ORDER BY run_at, id LIMIT :first

-- name: lift_jobs
-- One step up, once; what somebody claims at this moment is passed over.
SELECT id, queue, priority - 1, tenant FROM tenure_jobs FORCE INDEX (PRIMARY)
WHERE id IN :ids AND state = 0 AND lifted = 0 AND priority > 0 ORDER BY id FOR UPDATE SKIP LOCKED;
UPDATE tenure_jobs FORCE INDEX (PRIMARY) SET priority = priority - 1, lifted = 1
WHERE id IN :ids
