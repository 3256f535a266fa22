-- Jobs whose end concerns a feature: `chained & 16` marks them.

-- name: hooked_jobs
-- What the plans of features are told about these jobs.
SELECT id, kind, tenant, owner, queue, state, reason, correlation_id, batch_id, seq
FROM tenure_jobs FORCE INDEX (PRIMARY) WHERE id IN :ids ORDER BY id

-- name: unfollowed
-- Those of these jobs that a feature follows, but that are not marked.
SELECT id FROM tenure_jobs FORCE INDEX (PRIMARY)
WHERE id IN :ids AND kind IN :kinds AND chained & 16 = 0

-- name: follow_jobs
-- Mark them.
UPDATE tenure_jobs FORCE INDEX (PRIMARY) SET chained = chained | 16 WHERE id IN :ids

-- name: followed_due
-- Followed jobs that are to end without a run: their last holder went silent, or they were not started in time. Those
-- in `resting` could not be ended a moment ago.
(SELECT id FROM tenure_jobs FORCE INDEX (tenure_jobs_leased)
    WHERE running_until < {now} AND chained & 16 = 16 AND kind IN :kinds AND id NOT IN :resting
    ORDER BY running_until LIMIT :limit)
UNION ALL
(SELECT id FROM tenure_jobs FORCE INDEX (tenure_jobs_expiring)
    WHERE expiring_at <= {now} AND kind IN :kinds AND id NOT IN :resting
    ORDER BY expiring_at LIMIT :limit)

-- name: lock_followed_due
-- Those of them that are still due and that nobody else has locked.
SELECT id, fence, lease_owner, attempt, max_attempts, cancel_requested, refunds, standing, kind, chained,
    queue, priority, tenant, state
FROM tenure_jobs FORCE INDEX (PRIMARY)
WHERE id IN :ids AND (running_until < {now} - :waited OR expiring_at <= {now})
ORDER BY id FOR UPDATE SKIP LOCKED
