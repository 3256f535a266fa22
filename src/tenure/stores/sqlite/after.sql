-- Jobs that wait for others.

-- name: lock_awaited
-- In what state those are that a new job is to wait for. A write, so that nobody ends them meanwhile.
UPDATE tenure_jobs SET chained = chained WHERE id IN (SELECT value FROM json_each(:ids))
RETURNING id, state

-- name: add_after
-- Who waits for whom, and what a failure means.
INSERT INTO tenure_after (waits_for, job_id, rule)
SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(:rows)

-- name: find_dependents
-- Who waits for those of these jobs that have ended, and how that one ended.
SELECT a.job_id, a.waits_for, a.rule, j.state
FROM tenure_after a JOIN tenure_jobs j ON j.id = a.waits_for
WHERE a.waits_for IN (SELECT value FROM json_each(:ids)) AND j.state >= 2
ORDER BY a.job_id, a.waits_for

-- name: waiting_for
-- Who waits for these jobs, which have not ended yet.
SELECT a.job_id, a.waits_for FROM tenure_after a JOIN tenure_jobs j ON j.id = a.job_id
WHERE a.waits_for IN (SELECT value FROM json_each(:ids))

-- name: lock_dependents
-- The one writer is the lock.
SELECT id FROM tenure_jobs WHERE id IN (SELECT value FROM json_each(:ids))

-- name: drop_awaited
-- Nobody waits for these any more.
DELETE FROM tenure_after WHERE waits_for IN (SELECT value FROM json_each(:ids))

-- name: purge_after
-- These wait for nobody any more.
DELETE FROM tenure_after WHERE job_id IN (SELECT value FROM json_each(:ids))

-- name: still_waiting
-- Which of these wait for somebody else.
SELECT DISTINCT job_id FROM tenure_after WHERE job_id IN (SELECT value FROM json_each(:ids))

-- name: release_dependents
-- They wait for nobody any more, whatever has become of them meanwhile.
UPDATE tenure_jobs SET hold = hold - 2
WHERE id IN (SELECT value FROM json_each(:ids)) AND hold & 2 = 2
RETURNING id, queue, priority, tenant

-- name: cancel_dependents
-- What they waited for did not succeed. The fence grows, as with an operator's cancel.
UPDATE tenure_jobs SET state = 5, reason = 'dependency_failed', finished_at = {now},
    fence = fence + 1
WHERE id IN (SELECT value FROM json_each(:ids)) AND state = 0
RETURNING id, fence
