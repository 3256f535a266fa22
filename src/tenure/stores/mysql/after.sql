-- Jobs that wait for others. What somebody may have just committed is read with a lock: the
-- caller's transaction may see the past otherwise.

-- name: lock_awaited
-- In what state those are that a new job is to wait for: until the commit nobody ends them.
SELECT id, state FROM tenure_jobs FORCE INDEX (PRIMARY) WHERE id IN :ids ORDER BY id FOR UPDATE

-- name: add_after
-- each
-- Who waits for whom, and what a failure means.
INSERT INTO tenure_after (waits_for, job_id, rule) VALUES (:waits_for, :id, :rule)

-- name: find_dependents
-- Who waits for those of these jobs that have ended, and how that one ended.
SELECT a.job_id, a.waits_for, a.rule, j.state
FROM tenure_after a FORCE INDEX (PRIMARY)
STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = a.waits_for
WHERE a.waits_for IN :ids AND j.state >= 2
ORDER BY a.job_id, a.waits_for LOCK IN SHARE MODE

-- name: waiting_for
-- Who waits for these jobs, which have not ended yet.
SELECT a.job_id, a.waits_for FROM tenure_after a FORCE INDEX (PRIMARY)
STRAIGHT_JOIN tenure_jobs j FORCE INDEX (PRIMARY) ON j.id = a.job_id
WHERE a.waits_for IN :ids

-- name: lock_dependents
-- The last one that they wait for sets them free, so those are decided on one at a time.
SELECT id FROM tenure_jobs FORCE INDEX (PRIMARY) WHERE id IN :ids ORDER BY id FOR UPDATE

-- name: drop_awaited
-- Nobody waits for these any more.
DELETE FROM tenure_after WHERE waits_for IN :ids

-- name: purge_after
-- These wait for nobody any more.
DELETE FROM tenure_after WHERE job_id IN :ids

-- name: still_waiting
-- Which of these wait for somebody else.
SELECT DISTINCT job_id FROM tenure_after FORCE INDEX (tenure_after_job) WHERE job_id IN :ids
LOCK IN SHARE MODE

-- name: release_dependents
-- They wait for nobody any more, whatever has become of them meanwhile.
SELECT id, queue, priority, tenant FROM tenure_jobs FORCE INDEX (PRIMARY)
WHERE id IN :ids AND hold & 2 = 2 FOR UPDATE;
UPDATE tenure_jobs FORCE INDEX (PRIMARY) SET hold = hold - 2 WHERE id IN :ids

-- name: cancel_dependents
-- What they waited for did not succeed. The fence grows, as with an operator's cancel.
SELECT id, fence + 1 FROM tenure_jobs FORCE INDEX (PRIMARY)
WHERE id IN :ids AND state = 0 ORDER BY id FOR UPDATE;
UPDATE tenure_jobs FORCE INDEX (PRIMARY)
SET state = 5, reason = 'dependency_failed', finished_at = {now}, fence = fence + 1
WHERE id IN :ids
