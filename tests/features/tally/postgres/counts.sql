-- name: add
INSERT INTO tally_counts (state, jobs) VALUES (:state::text, :jobs::bigint)
ON CONFLICT (state) DO UPDATE SET jobs = tally_counts.jobs + excluded.jobs

-- name: counts
SELECT state, jobs FROM tally_counts ORDER BY state
