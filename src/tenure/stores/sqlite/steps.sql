-- Steps of a job that are done: kept over its retries, removed with it.

-- name: remember_step
-- Only the present holder may; written twice by the same holder it is the same step.
INSERT INTO tenure_steps (job_id, name, at, result)
SELECT id, :name, {now}, :result FROM tenure_jobs
WHERE id = :id AND fence = :fence AND state = 1
ON CONFLICT (job_id, name) DO UPDATE SET at = excluded.at, result = excluded.result
RETURNING job_id

-- name: recall_steps
SELECT name, result FROM tenure_steps WHERE job_id = :id

-- name: purge_steps
DELETE FROM tenure_steps WHERE job_id IN (SELECT value FROM json_each(:ids))
