-- Rollups: what happened in each minute, ten minutes and hour, by queue and kind; and groups of errors.

-- name: add_rollups
-- In the order of the key, so that two workers never wait for each other in turn.
INSERT INTO tenure_rollups (span, at, queue, kind, measure, source, n)
SELECT s.span, t.now - t.now % (s.span * 1000000), r.queue, r.kind, r.measure, :source::int, r.n
FROM (SELECT {now} AS now) t CROSS JOIN unnest(:spans::bigint[]) AS s (span)
CROSS JOIN unnest(:queue::text[], :kind::text[], :measure::int[], :n::bigint[])
    AS r (queue, kind, measure, n)
ORDER BY s.span, r.queue, r.kind, r.measure
ON CONFLICT (span, queue, kind, at, measure, source) DO UPDATE SET n = tenure_rollups.n + excluded.n

-- name: roll_up_ended
-- Jobs that somebody else than a worker has ended, in the transaction that ended them. Under a source of its own, so that
-- nobody waits for its commit.
INSERT INTO tenure_rollups (span, at, queue, kind, measure, source, n)
SELECT s.span, t.now - t.now % (s.span * 1000000), CASE WHEN g.every = 1 THEN '' ELSE j.queue END,
    CASE WHEN g.every = 1 THEN '' ELSE j.kind END, j.state, :source::int, count(*)
FROM (SELECT {now} AS now) t CROSS JOIN unnest(:spans::bigint[]) AS s (span)
CROSS JOIN (VALUES (0), (1)) AS g (every)
CROSS JOIN tenure_jobs j WHERE j.id = ANY(ARRAY(SELECT unnest(:ids::bigint[]))) AND j.state + 0 >= 2
GROUP BY 1, 2, 3, 4, 5
ON CONFLICT (span, queue, kind, at, measure, source) DO UPDATE SET n = tenure_rollups.n + excluded.n

-- fragment: where_rolled_queues
AND queue = ANY(:queues::text[])

-- fragment: where_rolled_kinds
AND kind = ANY(:kinds::text[])

-- fragment: where_rolled_everything
AND queue = '' AND kind = ''

-- fragment: where_rolled_apart
AND queue <> ''

-- name: read_rollups
-- Sums by period and measure.
SELECT at, measure, sum(n)::bigint FROM tenure_rollups
WHERE span = :span::int AND at >= :since::bigint {where} GROUP BY at, measure

-- name: sum_rollups
-- Sums by queue, kind and measure.
SELECT queue, kind, measure, sum(n)::bigint FROM tenure_rollups
WHERE span = :span::int AND at >= :since::bigint {where} GROUP BY queue, kind, measure

-- name: lately_ended
-- How many jobs have ended in each state, as far back as hours are kept.
SELECT measure, sum(n)::bigint FROM tenure_rollups
WHERE span = 3600 AND queue = '' AND kind = '' AND measure BETWEEN 2 AND 7 GROUP BY measure

-- name: prune_rollups
DELETE FROM tenure_rollups WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM tenure_rollups WHERE span = :span::int AND at < {now} - :age::bigint LIMIT :limit::bigint))
RETURNING span

-- name: add_error_groups
INSERT INTO tenure_error_groups (whose, kind, error_group, failures, first_at, last_at, sample_job, type, message,
    sample_message)
SELECT r.whose, r.kind, r.error_group, r.failures, t.now, t.now, r.sample_job, r.type, r.message, r.sample_message
FROM (SELECT {now} AS now) t CROSS JOIN unnest(:whose::text[], :kind::text[], :error_group::bigint[],
    :failures::bigint[], :sample_job::bigint[], :type::text[], :message::text[], :sample_message::text[])
    AS r (whose, kind, error_group, failures, sample_job, type, message, sample_message)
ORDER BY r.whose, r.kind, r.error_group
ON CONFLICT (whose, kind, error_group) DO UPDATE SET
    failures = tenure_error_groups.failures + excluded.failures, last_at = excluded.last_at,
    sample_job = excluded.sample_job, sample_message = excluded.sample_message

-- name: add_error_hours
INSERT INTO tenure_error_hours (whose, kind, error_group, at, n)
SELECT r.whose, r.kind, r.error_group, t.now - t.now % 3600000000, r.failures
FROM (SELECT {now} AS now) t CROSS JOIN unnest(:whose::text[], :kind::text[], :error_group::bigint[],
    :failures::bigint[]) AS r (whose, kind, error_group, failures)
ORDER BY r.whose, r.kind, r.error_group
ON CONFLICT (whose, kind, error_group, at) DO UPDATE SET n = tenure_error_hours.n + excluded.n

-- name: page_error_groups
-- The last seen first, from behind the cursor.
SELECT kind, error_group, failures, first_at, last_at, sample_job, type, message, sample_message
FROM tenure_error_groups
WHERE whose = :whose::text AND last_at >= :since::bigint
    AND (last_at, error_group) < (:after_at::bigint, :after_group::bigint) {where}
ORDER BY last_at DESC, error_group DESC LIMIT :limit::bigint

-- name: read_error_hours
SELECT kind, error_group, at, n FROM tenure_error_hours
WHERE whose = :whose::text AND kind = ANY(:kinds::text[]) AND error_group = ANY(:groups::bigint[])
    AND at >= :since::bigint

-- name: prune_error_groups
DELETE FROM tenure_error_groups WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM tenure_error_groups WHERE last_at < {now} - :age::bigint LIMIT :limit::bigint))
RETURNING kind

-- name: prune_error_hours
DELETE FROM tenure_error_hours WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM tenure_error_hours WHERE at < {now} - :age::bigint LIMIT :limit::bigint))
RETURNING kind
