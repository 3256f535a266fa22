-- Jobs that wait for others.

-- name: lock_awaited
-- In what state those are that a new job is to wait for: until the commit nobody ends them.
SELECT id, state FROM tenure_jobs WHERE id = ANY(ARRAY(SELECT unnest(:ids::bigint[])))
ORDER BY id FOR UPDATE

-- name: add_after
-- Who waits for whom, and what a failure means.
INSERT INTO tenure_after (waits_for, job_id, rule)
SELECT * FROM unnest(:waits_for::bigint[], :id::bigint[], :rule::smallint[])

-- name: find_dependents
-- Who waits for those of these jobs that have ended, and how that one ended.
SELECT a.job_id, a.waits_for, a.rule, j.state
FROM tenure_after a JOIN tenure_jobs j ON j.id = a.waits_for
WHERE a.waits_for = ANY(ARRAY(SELECT unnest(:ids::bigint[]))) AND j.state + 0 >= 2
ORDER BY a.job_id, a.waits_for

-- name: waiting_for
-- Who waits for these jobs, which have not ended yet.
SELECT a.job_id, a.waits_for FROM tenure_after a JOIN tenure_jobs j ON j.id = a.job_id
WHERE a.waits_for = ANY(ARRAY(SELECT unnest(:ids::bigint[])))

-- name: lock_dependents
-- The last one that they wait for sets them free, so those are decided on one at a time. Written,
-- not only locked: a caller whose snapshot is older must fail rather than overlook who went before.
UPDATE tenure_jobs SET hold = hold WHERE id = ANY(ARRAY(
    SELECT id FROM tenure_jobs WHERE id = ANY(ARRAY(SELECT unnest(:ids::bigint[])))
    ORDER BY id FOR UPDATE))

-- name: drop_awaited
-- Nobody waits for these any more.
DELETE FROM tenure_after WHERE waits_for = ANY(:ids::bigint[])

-- name: purge_after
-- These wait for nobody any more.
DELETE FROM tenure_after WHERE job_id = ANY(:ids::bigint[])

-- name: still_waiting
-- Which of these wait for somebody else.
SELECT DISTINCT job_id FROM tenure_after WHERE job_id = ANY(ARRAY(SELECT unnest(:ids::bigint[])))

-- name: release_dependents
-- They wait for nobody any more, whatever has become of them meanwhile.
UPDATE tenure_jobs SET hold = hold - 2
WHERE id = ANY(ARRAY(SELECT unnest(:ids::bigint[]))) AND hold & 2 = 2
RETURNING id, queue, priority, tenant

-- name: cancel_dependents
-- What they waited for did not succeed. The fence grows, as with an operator's cancel.
UPDATE tenure_jobs SET state = 5, reason = 'dependency_failed', finished_at = {now},
    fence = fence + 1
WHERE id = ANY(ARRAY(SELECT unnest(:ids::bigint[]))) AND state + 0 = 0
RETURNING id, fence
