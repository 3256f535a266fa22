-- Jobs whose end concerns a feature: `chained & 16` marks them.

-- name: hooked_jobs
-- What the plans of features are told about these jobs.
SELECT id, kind, tenant, owner, queue, state, reason, correlation_id, batch_id, seq
FROM tenure_jobs WHERE id = ANY(ARRAY(SELECT unnest(:ids::bigint[]))) ORDER BY id

-- name: unfollowed
-- Those of these jobs that a feature follows, but that are not marked.
SELECT id FROM tenure_jobs
WHERE id = ANY(ARRAY(SELECT unnest(:ids::bigint[]))) AND kind || '' = ANY(:kinds::text[]) AND chained & 16 = 0

-- name: follow_jobs
-- Mark them.
UPDATE tenure_jobs SET chained = chained | 16 WHERE id = ANY(ARRAY(SELECT unnest(:ids::bigint[])))

-- name: followed_due
-- Followed jobs that are to end without a run: their last holder went silent, or they were not started in time. Those
-- in `resting` could not be ended a moment ago.
(SELECT id FROM tenure_jobs
    WHERE state = 1 AND lease_until < {now} AND chained & 16 = 16
        AND kind || '' = ANY(:kinds::text[]) AND NOT id + 0 = ANY(:resting::bigint[])
    ORDER BY lease_until LIMIT :limit::bigint)
UNION ALL
(SELECT id FROM tenure_jobs
    WHERE state = 0 AND expires_at IS NOT NULL AND started_at IS NULL AND expires_at <= {now}
        AND kind || '' = ANY(:kinds::text[]) AND NOT id + 0 = ANY(:resting::bigint[])
    ORDER BY expires_at LIMIT :limit::bigint)

-- name: lock_followed_due
-- Those of them that are still due and that nobody else has locked.
SELECT id, fence, lease_owner, attempt, max_attempts, cancel_requested, refunds, standing, kind, chained,
    queue, priority, tenant, state
FROM tenure_jobs
WHERE id = ANY(ARRAY(SELECT unnest(:ids::bigint[]))) AND ((state + 0 = 1 AND lease_until < {now} - :waited::bigint)
    OR (state + 0 = 0 AND expires_at IS NOT NULL AND started_at IS NULL AND expires_at <= {now}))
ORDER BY id FOR UPDATE SKIP LOCKED
