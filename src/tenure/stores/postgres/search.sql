-- Searching: conditions without an index, and how far a search walks.

-- fragment: where_ordering_key
AND ordering_key = :ordering_key::text

-- fragment: where_any_key
AND (unique_key = :any_key::text OR ordering_key = :any_key::text OR id = :any_id::bigint)

-- fragment: where_error
-- The text of the JSON is looked at first: parsing it takes ten times as long.
AND (lower(reason) LIKE :error::text OR EXISTS (SELECT 1 FROM tenure_attempts a
    WHERE a.job_id = tenure_jobs.id AND a.failure IS NOT NULL
        AND strpos(lower(a.failure COLLATE "C"), :error_json::text) > 0
        AND lower((a.failure::json ->> 'type') || ': ' || (a.failure::json ->> 'message'))
            LIKE :error::text OFFSET 0))

-- fragment: where_error_group
-- Whose last run failed like this: the fence of a later run, or of an operator's move, is another.
AND (id, fence) IN (SELECT a.job_id, a.fence FROM tenure_attempts a WHERE a.error_group = :error_group::bigint)

-- fragment: payload_text
-- PostgreSQL reads no JSON with the escape of NUL, so that such a payload is never found.
(SELECT CASE WHEN strpos(b.body, '\u0000') = 0 THEN b.body::json END
    FROM (SELECT coalesce(payload, (SELECT p.payload FROM tenure_payloads p
        WHERE p.job_id = tenure_jobs.id)) AS body) b)

-- fragment: where_payload_0
AND {payload_text} #>> :path_0::text[] = :value_0::text

-- fragment: where_payload_1
AND {payload_text} #>> :path_1::text[] = :value_1::text

-- fragment: where_payload_2
AND {payload_text} #>> :path_2::text[] = :value_2::text

-- fragment: where_parent
AND (batch_id = :parent_id::bigint OR enqueued_by = :parent::text)

-- fragment: where_worker
AND state = 1 AND lease_owner = :worker::text

-- fragment: where_edge
AND id >= :edge::bigint

-- name: page_edge
-- The last of the next so many rows, newest first, and how many there were.
SELECT min(id), count(*) FROM (SELECT id FROM tenure_jobs WHERE id < :after::bigint {where}
    ORDER BY id DESC LIMIT :walked::bigint) few

-- name: count_walked
-- The states of the jobs that match among those from the edge on.
SELECT {shown_state} AS shown, count(*) FROM tenure_jobs
WHERE id < :after::bigint {where} GROUP BY shown

-- name: count_letters
-- Failed and dead jobs, counted up to a bound; from their index.
SELECT state, count(*) FROM (
    SELECT state FROM tenure_jobs WHERE state IN (3, 4) {where} LIMIT :limit::bigint) few GROUP BY state

-- name: count_open
-- Jobs that have not ended; each part is what one partial index holds, counted up to a bound.
SELECT shown, count(*) FROM (
    (SELECT 0 AS shown FROM tenure_jobs WHERE state = 0 AND hold = 0 {where} LIMIT :limit::bigint)
    UNION ALL
    (SELECT 0 FROM tenure_jobs WHERE state = 0 AND hold <> 0 {where} LIMIT :limit::bigint)
    UNION ALL
    (SELECT {shown_state} FROM tenure_jobs WHERE state = 1 {where} LIMIT :limit::bigint)
) open_jobs GROUP BY shown

-- name: estimated_jobs
-- How many rows the table has, as the planner's statistics see it.
SELECT greatest(coalesce((SELECT n_live_tup FROM pg_stat_user_tables
    WHERE relid = to_regclass('tenure_jobs')), 0),
    (SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass('tenure_jobs')))

-- name: last_errors
-- The last failure of each of these jobs, without its traceback.
SELECT a.job_id, a.failure::json ->> 'type', left(a.failure::json ->> 'message', :length::int),
    a.failure::json ->> 'code'
FROM tenure_attempts a
WHERE a.job_id = ANY(:ids::bigint[]) AND a.failure IS NOT NULL AND a.fence = (
    SELECT max(l.fence) FROM tenure_attempts l WHERE l.job_id = a.job_id AND l.failure IS NOT NULL)

-- name: children_of
-- Jobs that a job has enqueued, newest first. The bounds are what the index says of itself.
SELECT {job} FROM tenure_jobs WHERE enqueued_by = :parent::text
    AND enqueued_by >= 'job:' AND enqueued_by < 'job;'
ORDER BY id DESC LIMIT :limit::bigint

-- name: awaited_by
-- Those that a job waits for.
SELECT waits_for FROM tenure_after WHERE job_id = :id::bigint ORDER BY waits_for LIMIT :limit::bigint

-- name: dependents_of
-- Those that wait for a job.
SELECT job_id FROM tenure_after WHERE waits_for = :id::bigint ORDER BY job_id LIMIT :limit::bigint

-- name: light_jobs
SELECT {job} FROM tenure_jobs WHERE id = ANY(:ids::bigint[]) ORDER BY id

-- name: list_steps
SELECT name, at, result FROM tenure_steps WHERE job_id = :id::bigint ORDER BY at, name LIMIT :limit::bigint

-- name: first_in_line
-- The due jobs of a queue that come first.
SELECT priority, tenant, run_at, id FROM tenure_jobs
WHERE queue = :queue::text AND state = 0 AND hold = 0 AND run_at <= {now}
ORDER BY priority, tenant, run_at, id LIMIT :limit::bigint

-- name: first_in_lane
-- The due jobs of a tenant's priority in a queue that come first.
SELECT run_at, id FROM tenure_jobs
WHERE queue = :queue::text AND priority = :priority::int AND tenant = :tenant::text AND state = 0 AND hold = 0
    AND run_at <= {now}
ORDER BY run_at, id LIMIT :limit::bigint

-- name: open_tenants
-- Tenants with open jobs, and how many; counted up to a bound.
SELECT tenant, shown, count(*) FROM (
    (SELECT tenant, 0 AS shown FROM tenure_jobs WHERE state = 0 AND hold = 0 LIMIT :limit::bigint)
    UNION ALL
    (SELECT tenant, 8 FROM tenure_jobs WHERE state = 0 AND hold <> 0 LIMIT :limit::bigint)
    UNION ALL
    (SELECT tenant, {shown_state} FROM tenure_jobs WHERE state = 1 LIMIT :limit::bigint)
) open_jobs GROUP BY tenant, shown

-- name: queue_kinds
-- The kinds of the first jobs of a queue that may run: those that nobody takes pile up there.
SELECT kind, count(*), min(run_at) FROM (
    SELECT kind, run_at FROM tenure_jobs WHERE queue = :queue::text AND state = 0 AND hold = 0
    ORDER BY priority, tenant, run_at LIMIT :limit::bigint) few GROUP BY kind
