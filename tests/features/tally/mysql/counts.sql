-- name: add
INSERT INTO tally_counts (state, jobs) VALUES (:state, :jobs)
ON DUPLICATE KEY UPDATE jobs = tally_counts.jobs + :jobs

-- name: counts
SELECT state, jobs FROM tally_counts ORDER BY state
