-- Rollups: what happened in each minute, ten minutes and hour, by queue and kind; and groups of errors.

-- fragment: all_spans
-- Lists of numbers are bound as lists of values only; the periods never change.
(SELECT 60 AS span UNION ALL SELECT 600 UNION ALL SELECT 3600)

-- name: add_rollups
-- In the order of the key, so that two workers never wait for each other in turn.
INSERT INTO tenure_rollups (span, at, queue, kind, measure, source, n)
SELECT s.span, t.now - t.now % (s.span * 1000000), r.queue, r.kind, r.measure, :source, r.n
FROM (SELECT {now} AS now) t CROSS JOIN {all_spans} s
CROSS JOIN JSON_TABLE(:rows, '$[*]' COLUMNS (queue LONGTEXT PATH '$.queue', kind LONGTEXT PATH '$.kind',
    measure INT PATH '$.measure', n BIGINT PATH '$.n')) r
ORDER BY s.span, r.queue, r.kind, r.measure
ON DUPLICATE KEY UPDATE n = tenure_rollups.n + VALUES(n)

-- name: roll_up_ended
-- Jobs that somebody else than a worker has ended, in the transaction that ended them. Under a source of its own, so that
-- nobody waits for its commit.
INSERT INTO tenure_rollups (span, at, queue, kind, measure, source, n)
SELECT e.span, e.begun, e.queue, e.kind, e.state, :source, e.n FROM (
    SELECT s.span, t.now - t.now % (s.span * 1000000) AS begun,
        CASE WHEN g.every = 1 THEN '' ELSE j.queue END AS queue,
        CASE WHEN g.every = 1 THEN '' ELSE j.kind END AS kind, j.state, count(*) AS n
    FROM (SELECT {now} AS now) t CROSS JOIN {all_spans} s
    CROSS JOIN (SELECT 0 AS every UNION ALL SELECT 1) g
    CROSS JOIN tenure_jobs j FORCE INDEX (PRIMARY) WHERE j.id IN :ids AND j.state >= 2
    GROUP BY 1, 2, 3, 4, 5) e
ON DUPLICATE KEY UPDATE n = tenure_rollups.n + VALUES(n)

-- fragment: where_rolled_queues
AND queue IN :queues

-- fragment: where_rolled_kinds
AND kind IN :kinds

-- fragment: where_rolled_everything
AND queue = '' AND kind = ''

-- fragment: where_rolled_apart
AND queue <> ''

-- name: read_rollups
-- Sums by period and measure.
SELECT at, measure, CAST(sum(n) AS SIGNED) FROM tenure_rollups
WHERE span = :span AND at >= :since {where} GROUP BY at, measure

-- name: sum_rollups
-- Sums by queue, kind and measure.
SELECT queue, kind, measure, CAST(sum(n) AS SIGNED) FROM tenure_rollups
WHERE span = :span AND at >= :since {where} GROUP BY queue, kind, measure

-- name: lately_ended
-- How many jobs have ended in each state, as far back as hours are kept.
SELECT measure, CAST(sum(n) AS SIGNED) FROM tenure_rollups
WHERE span = 3600 AND queue = '' AND kind = '' AND measure BETWEEN 2 AND 7 GROUP BY measure

-- name: prune_rollups
DELETE FROM tenure_rollups WHERE span = :span AND at < {now} - :age LIMIT :limit

-- name: add_error_groups
INSERT INTO tenure_error_groups (whose, kind, error_group, failures, first_at, last_at, sample_job, type, message,
    sample_message)
SELECT r.whose, r.kind, r.error_group, r.failures, t.now, t.now, r.sample_job, r.type, r.message, r.sample_message
FROM (SELECT {now} AS now) t CROSS JOIN JSON_TABLE(:rows, '$[*]' COLUMNS (whose LONGTEXT PATH '$.whose',
    kind LONGTEXT PATH '$.kind', error_group BIGINT PATH '$.error_group', failures BIGINT PATH '$.failures',
    sample_job BIGINT PATH '$.sample_job', type LONGTEXT PATH '$.type', message LONGTEXT PATH '$.message',
    sample_message LONGTEXT PATH '$.sample_message')) r
ORDER BY r.whose, r.kind, r.error_group
ON DUPLICATE KEY UPDATE failures = tenure_error_groups.failures + VALUES(failures), last_at = VALUES(last_at),
    sample_job = VALUES(sample_job), sample_message = VALUES(sample_message)

-- name: add_error_hours
INSERT INTO tenure_error_hours (whose, kind, error_group, at, n)
SELECT r.whose, r.kind, r.error_group, t.now - t.now % 3600000000, r.failures
FROM (SELECT {now} AS now) t CROSS JOIN JSON_TABLE(:rows, '$[*]' COLUMNS (whose LONGTEXT PATH '$.whose',
    kind LONGTEXT PATH '$.kind', error_group BIGINT PATH '$.error_group', failures BIGINT PATH '$.failures')) r
ORDER BY r.whose, r.kind, r.error_group
ON DUPLICATE KEY UPDATE n = tenure_error_hours.n + VALUES(n)

-- name: page_error_groups
-- The last seen first, from behind the cursor.
SELECT kind, error_group, failures, first_at, last_at, sample_job, type, message, sample_message
FROM tenure_error_groups
WHERE whose = :whose AND last_at >= :since
    AND (last_at < :after_at OR (last_at = :after_at AND error_group < :after_group)) {where}
ORDER BY last_at DESC, error_group DESC LIMIT :limit

-- name: read_error_hours
SELECT kind, error_group, at, n FROM tenure_error_hours
WHERE whose = :whose AND kind IN :kinds AND error_group IN :groups AND at >= :since

-- name: prune_error_groups
DELETE FROM tenure_error_groups WHERE last_at < {now} - :age LIMIT :limit

-- name: prune_error_hours
DELETE FROM tenure_error_hours WHERE at < {now} - :age LIMIT :limit
