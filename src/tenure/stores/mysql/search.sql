-- Searching: conditions without an index, and how far a search walks.

-- fragment: where_ordering_key
AND ordering_key = :ordering_key

-- fragment: where_any_key
AND (unique_key = :any_key OR ordering_key = :any_key OR id = :any_id)

-- fragment: where_error
AND (lower(reason) LIKE :error OR EXISTS (SELECT 1 FROM tenure_attempts a
    WHERE a.job_id = tenure_jobs.id AND a.failure IS NOT NULL
        AND instr(lower(a.failure), :error_json) > 0
        AND lower(concat(JSON_UNQUOTE(JSON_EXTRACT(a.failure, '$.type')), ': ',
            JSON_UNQUOTE(JSON_EXTRACT(a.failure, '$.message')))) LIKE :error))

-- fragment: where_error_group
-- Whose last run failed like this: the fence of a later run, or of an operator's move, is another.
AND (id, fence) IN (SELECT a.job_id, a.fence FROM tenure_attempts a WHERE a.error_group = :error_group)

-- fragment: payload_text
coalesce(payload, (SELECT p.payload FROM tenure_payloads p WHERE p.job_id = tenure_jobs.id))

-- fragment: where_payload_0
AND JSON_UNQUOTE(JSON_EXTRACT({payload_text}, :json_path_0)) = :value_0

-- fragment: where_payload_1
AND JSON_UNQUOTE(JSON_EXTRACT({payload_text}, :json_path_1)) = :value_1

-- fragment: where_payload_2
AND JSON_UNQUOTE(JSON_EXTRACT({payload_text}, :json_path_2)) = :value_2

-- fragment: where_parent
AND (batch_id = :parent_id OR enqueued_by = :parent)

-- fragment: where_worker
AND state = 1 AND lease_owner = :worker

-- fragment: where_edge
AND id >= :edge

-- name: page_edge
-- The last of the next so many rows, newest first, and how many there were.
SELECT min(id), count(*) FROM (SELECT id FROM tenure_jobs WHERE id < :after {where}
    ORDER BY id DESC LIMIT :walked) few

-- name: count_walked
-- The states of the jobs that match among those from the edge on.
SELECT {shown_state} AS shown, count(*) FROM tenure_jobs WHERE id < :after {where} GROUP BY shown

-- name: count_letters
-- Failed and dead jobs, counted up to a bound; from their index.
SELECT state, count(*) FROM (
    SELECT state FROM tenure_jobs WHERE aside = 1 {where} LIMIT :limit) few GROUP BY state

-- name: count_open
-- Jobs that have not ended; each part is what one index holds, counted up to a bound.
SELECT shown, count(*) FROM (
    (SELECT 0 AS shown FROM tenure_jobs FORCE INDEX (tenure_jobs_due)
        WHERE due_queue IS NOT NULL {where} LIMIT :limit)
    UNION ALL
    (SELECT 0 FROM tenure_jobs FORCE INDEX (tenure_jobs_aside) WHERE aside = 2 {where} LIMIT :limit)
    UNION ALL
    (SELECT {shown_state} FROM tenure_jobs FORCE INDEX (tenure_jobs_leased)
        WHERE running_until IS NOT NULL {where} LIMIT :limit)
) open_jobs GROUP BY shown

-- name: estimated_jobs
-- How many rows the table has, as the server's statistics see it.
SELECT coalesce(max(table_rows), 0) FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = 'tenure_jobs'

-- name: last_errors
-- The last failure of each of these jobs, without its traceback.
SELECT a.job_id, JSON_UNQUOTE(JSON_EXTRACT(a.failure, '$.type')),
    left(JSON_UNQUOTE(JSON_EXTRACT(a.failure, '$.message')), :length), JSON_VALUE(a.failure, '$.code')
FROM tenure_attempts a
WHERE a.job_id IN :ids AND a.failure IS NOT NULL AND a.fence = (
    SELECT max(l.fence) FROM tenure_attempts l WHERE l.job_id = a.job_id AND l.failure IS NOT NULL)

-- name: children_of
-- Jobs that a job has enqueued, newest first.
SELECT {job} FROM tenure_jobs FORCE INDEX (tenure_jobs_children) WHERE enqueued_by = :parent
ORDER BY id DESC LIMIT :limit

-- name: awaited_by
-- Those that a job waits for.
SELECT waits_for FROM tenure_after WHERE job_id = :id ORDER BY waits_for LIMIT :limit

-- name: dependents_of
-- Those that wait for a job.
SELECT job_id FROM tenure_after WHERE waits_for = :id ORDER BY job_id LIMIT :limit

-- name: light_jobs
SELECT {job} FROM tenure_jobs FORCE INDEX (PRIMARY) WHERE id IN :ids ORDER BY id

-- name: list_steps
SELECT name, at, result FROM tenure_steps WHERE job_id = :id ORDER BY at, name LIMIT :limit

-- name: first_in_line
-- The due jobs of a queue that come first.
SELECT priority, tenant, run_at, id FROM tenure_jobs FORCE INDEX (tenure_jobs_due)
WHERE due_queue = :queue AND run_at <= {now} ORDER BY priority, tenant, run_at, id LIMIT :limit

-- name: first_in_lane
-- The due jobs of a tenant's priority in a queue that come first.
SELECT run_at, id FROM tenure_jobs FORCE INDEX (tenure_jobs_due)
WHERE due_queue = :queue AND priority = :priority AND tenant = :tenant AND run_at <= {now}
ORDER BY run_at, id LIMIT :limit

-- name: open_tenants
-- Tenants with open jobs, and how many; counted up to a bound.
SELECT tenant, shown, count(*) FROM (
    (SELECT tenant, 0 AS shown FROM tenure_jobs FORCE INDEX (tenure_jobs_due)
        WHERE due_queue IS NOT NULL LIMIT :limit)
    UNION ALL
    (SELECT tenant, 8 FROM tenure_jobs FORCE INDEX (tenure_jobs_aside) WHERE aside = 2 LIMIT :limit)
    UNION ALL
    (SELECT tenant, {shown_state} FROM tenure_jobs FORCE INDEX (tenure_jobs_leased)
        WHERE running_until IS NOT NULL LIMIT :limit)
) open_jobs GROUP BY tenant, shown

-- name: queue_kinds
-- The kinds of the first jobs of a queue that may run: those that nobody takes pile up there.
SELECT kind, count(*), min(run_at) FROM (
    SELECT kind, run_at FROM tenure_jobs FORCE INDEX (tenure_jobs_due) WHERE due_queue = :queue
    ORDER BY priority, tenant, run_at LIMIT :limit) few GROUP BY kind
