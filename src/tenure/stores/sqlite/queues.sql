-- What queues are told to do: jobs without a handler's word find their queue, old ones are lifted, tenants do not share.

-- name: find_unplaced
-- Waiting jobs of these kinds that were added without knowing their handler. Their index is nearly always empty.
SELECT id, kind, unplaced FROM tenure_jobs INDEXED BY tenure_jobs_unplaced
WHERE kind IN (SELECT value FROM json_each(:kinds)) AND unplaced <> 0 AND state = 0
LIMIT :limit

-- name: place_jobs
-- What their handler says, where nothing else was given.
UPDATE tenure_jobs SET queue = coalesce(r.value ->> 1, queue), priority = coalesce(r.value ->> 2, priority),
    max_attempts = coalesce(r.value ->> 3, max_attempts), unplaced = 0
FROM json_each(:rows) r WHERE tenure_jobs.id = r.value ->> 0 AND tenure_jobs.state = 0

-- name: claim_ages
-- each
-- How old the first jobs of a lane are, behind its floor: where tenants do not share, the oldest goes first.
SELECT queue, priority, tenant, run_at, id FROM tenure_jobs
WHERE queue = :queue AND priority = :priority AND tenant = :tenant AND state = 0 AND hold = 0
    AND run_at <= {now} AND (run_at, id) > (:floor_run_at, :floor_id)
    AND kind IN (SELECT value FROM json_each(:kinds))
    AND (expires_at IS NULL OR started_at IS NOT NULL OR expires_at > {now})
ORDER BY run_at, id LIMIT :first

-- name: old_jobs
-- each
-- The jobs of a lane that have waited for so long, behind the place that the last look reached.
SELECT queue, priority, tenant, run_at, id, lifted FROM tenure_jobs
WHERE queue = :queue AND priority = :priority AND tenant = :tenant AND state = 0 AND hold = 0
    AND run_at <= {now} - :ageing AND (run_at, id) > (:floor_run_at, :floor_id)
ORDER BY run_at, id LIMIT :first

-- name: lift_jobs
-- One step up, once.
UPDATE tenure_jobs SET priority = priority - 1, lifted = 1
WHERE id IN (SELECT value FROM json_each(:ids)) AND state + 0 = 0 AND lifted = 0 AND priority > 0
RETURNING id, queue, priority, tenant
