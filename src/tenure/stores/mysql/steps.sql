-- Steps of a job that are done: kept over its retries, removed with it.

-- name: remember_step
-- Only the present holder may, and until the commit nobody takes the job from it; written twice by
-- the same holder it is the same step.
SELECT id FROM tenure_jobs WHERE id = :id AND fence = :fence AND state = 1 FOR UPDATE;
INSERT INTO tenure_steps (job_id, name, at, result)
SELECT id, :name, {now}, :result FROM tenure_jobs FORCE INDEX (PRIMARY) WHERE id IN :ids
ON DUPLICATE KEY UPDATE at = VALUES(at), result = VALUES(result)

-- name: recall_steps
SELECT name, result FROM tenure_steps WHERE job_id = :id

-- name: purge_steps
DELETE FROM tenure_steps WHERE job_id IN :ids
