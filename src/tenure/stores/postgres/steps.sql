-- Steps of a job that are done: kept over its retries, removed with it.

-- name: remember_step
-- Only the present holder may, and until the commit nobody takes the job from it; written twice by
-- the same holder it is the same step.
INSERT INTO tenure_steps (job_id, name, at, result)
SELECT id, :name::text, {now}, :result::text FROM tenure_jobs
WHERE id = :id::bigint AND fence = :fence::bigint AND state + 0 = 1 FOR NO KEY UPDATE
ON CONFLICT (job_id, name) DO UPDATE SET at = excluded.at, result = excluded.result
RETURNING job_id

-- name: recall_steps
SELECT name, result FROM tenure_steps WHERE job_id = :id::bigint

-- name: purge_steps
DELETE FROM tenure_steps WHERE job_id = ANY(:ids::bigint[])
