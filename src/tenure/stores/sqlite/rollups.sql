-- Rollups: what happened in each minute, ten minutes and hour, by queue and kind; and groups of errors.

-- name: add_rollups
-- In the order of the key, so that two workers never wait for each other in turn.
INSERT INTO tenure_rollups (span, at, queue, kind, measure, source, n)
SELECT s.span, t.now - t.now % (s.span * 1000000), r.queue, r.kind, r.measure, :source, r.n
FROM (SELECT {now} AS now) t CROSS JOIN (SELECT value AS span FROM json_each(:spans)) s
CROSS JOIN (SELECT value ->> 0 AS queue, value ->> 1 AS kind, value ->> 2 AS measure, value ->> 3 AS n
    FROM json_each(:rows)) r
WHERE true ORDER BY s.span, r.queue, r.kind, r.measure
ON CONFLICT (span, queue, kind, at, measure, source) DO UPDATE SET n = tenure_rollups.n + excluded.n

-- name: roll_up_ended
-- Jobs that somebody else than a worker has ended, in the transaction that ended them. Under a source of its own, so that
-- nobody waits for its commit.
INSERT INTO tenure_rollups (span, at, queue, kind, measure, source, n)
SELECT s.span, t.now - t.now % (s.span * 1000000), CASE WHEN g.every = 1 THEN '' ELSE j.queue END,
    CASE WHEN g.every = 1 THEN '' ELSE j.kind END, j.state, :source, count(*)
FROM (SELECT {now} AS now) t CROSS JOIN (SELECT value AS span FROM json_each(:spans)) s
CROSS JOIN (SELECT 0 AS every UNION ALL SELECT 1) g
CROSS JOIN tenure_jobs j WHERE j.id IN (SELECT value FROM json_each(:ids)) AND j.state + 0 >= 2
GROUP BY 1, 2, 3, 4, 5
ON CONFLICT (span, queue, kind, at, measure, source) DO UPDATE SET n = tenure_rollups.n + excluded.n

-- fragment: where_rolled_queues
AND queue IN (SELECT value FROM json_each(:queues))

-- fragment: where_rolled_kinds
AND kind IN (SELECT value FROM json_each(:kinds))

-- fragment: where_rolled_everything
AND queue = '' AND kind = ''

-- fragment: where_rolled_apart
AND queue <> ''

-- name: read_rollups
-- Sums by period and measure.
SELECT at, measure, sum(n) FROM tenure_rollups
WHERE span = :span AND at >= :since {where} GROUP BY at, measure

-- name: sum_rollups
-- Sums by queue, kind and measure.
SELECT queue, kind, measure, sum(n) FROM tenure_rollups
WHERE span = :span AND at >= :since {where} GROUP BY queue, kind, measure

-- name: lately_ended
-- How many jobs have ended in each state, as far back as hours are kept.
SELECT measure, sum(n) FROM tenure_rollups
WHERE span = 3600 AND queue = '' AND kind = '' AND measure BETWEEN 2 AND 7 GROUP BY measure

-- name: prune_rollups
DELETE FROM tenure_rollups WHERE (span, queue, kind, at, measure, source) IN (
    SELECT span, queue, kind, at, measure, source FROM tenure_rollups
    WHERE span = :span AND at < {now} - :age LIMIT :limit)
RETURNING span

-- name: add_error_groups
INSERT INTO tenure_error_groups (whose, kind, error_group, failures, first_at, last_at, sample_job, type, message,
    sample_message)
SELECT r.whose, r.kind, r.error_group, r.failures, t.now, t.now, r.sample_job, r.type, r.message, r.sample_message
FROM (SELECT {now} AS now) t CROSS JOIN (SELECT value ->> 0 AS whose, value ->> 1 AS kind, value ->> 2 AS error_group,
    value ->> 3 AS failures, value ->> 4 AS sample_job, value ->> 5 AS type, value ->> 6 AS message,
    value ->> 7 AS sample_message FROM json_each(:rows)) r
WHERE true ORDER BY r.whose, r.kind, r.error_group
ON CONFLICT (whose, kind, error_group) DO UPDATE SET
    failures = tenure_error_groups.failures + excluded.failures, last_at = excluded.last_at,
    sample_job = excluded.sample_job, sample_message = excluded.sample_message

-- name: add_error_hours
INSERT INTO tenure_error_hours (whose, kind, error_group, at, n)
SELECT r.whose, r.kind, r.error_group, t.now - t.now % 3600000000, r.failures
FROM (SELECT {now} AS now) t CROSS JOIN (SELECT value ->> 0 AS whose, value ->> 1 AS kind, value ->> 2 AS error_group,
    value ->> 3 AS failures FROM json_each(:rows)) r
WHERE true ORDER BY r.whose, r.kind, r.error_group
ON CONFLICT (whose, kind, error_group, at) DO UPDATE SET n = tenure_error_hours.n + excluded.n

-- name: page_error_groups
-- The last seen first, from behind the cursor.
SELECT kind, error_group, failures, first_at, last_at, sample_job, type, message, sample_message
FROM tenure_error_groups
WHERE whose = :whose AND last_at >= :since
    AND (last_at, error_group) < (:after_at, :after_group) {where}
ORDER BY last_at DESC, error_group DESC LIMIT :limit

-- name: read_error_hours
SELECT kind, error_group, at, n FROM tenure_error_hours
WHERE whose = :whose AND kind IN (SELECT value FROM json_each(:kinds)) AND error_group IN (SELECT value FROM json_each(:groups))
    AND at >= :since

-- name: prune_error_groups
DELETE FROM tenure_error_groups WHERE (whose, kind, error_group) IN (
    SELECT whose, kind, error_group FROM tenure_error_groups WHERE last_at < {now} - :age LIMIT :limit)
RETURNING kind

-- name: prune_error_hours
DELETE FROM tenure_error_hours WHERE (whose, kind, error_group, at) IN (
    SELECT whose, kind, error_group, at FROM tenure_error_hours WHERE at < {now} - :age LIMIT :limit)
RETURNING kind
