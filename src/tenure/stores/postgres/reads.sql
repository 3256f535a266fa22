-- fragment: shown_state
-- What was claimed ahead and has not begun is still waiting.
CASE WHEN state = 1 AND standing = 1 THEN 0 ELSE state END

-- fragment: job
-- A job as lists show it, in the order of rows.job(); payload and result follow where asked for.
id, kind, queue, state, priority, tenant, owner, attempt, max_attempts, fence, hold, run_at,
created_at, started_at, finished_at, expires_at, lease_owner, lease_until, cancel_requested,
unique_key, reason, progress, progress_note, correlation_id, trace, enqueued_by, ordering_key,
batch_id, seq, snoozes, refunds, crashes, standing, lifted

-- fragment: where_ids
AND id = ANY(:ids::bigint[])

-- fragment: where_kinds
AND kind = ANY(:kinds::text[])

-- fragment: where_queues
AND queue = ANY(:queues::text[])

-- fragment: where_states
AND {shown_state} = ANY(:states::int[])

-- fragment: where_letters
-- Spelled out, so that the index of failed and dead jobs serves.
AND state IN (3, 4)

-- fragment: where_tenant
AND tenant = :tenant::text

-- fragment: where_named_tenant
-- The second half is what the index of tenants says of itself.
AND tenant = :tenant::text AND tenant <> ''

-- fragment: where_owner
AND owner = :owner::text

-- fragment: where_key
AND unique_key = :key::text

-- fragment: where_correlation_id
AND correlation_id = :correlation_id::text

-- fragment: where_batch_id
AND batch_id = :batch_id::bigint

-- fragment: where_created_after
AND created_at >= :created_after::bigint

-- fragment: where_created_before
AND created_at < :created_before::bigint

-- fragment: where_finished_before
AND finished_at < :finished_before::bigint

-- fragment: where_near
-- Not further back than so many ids.
AND id > (SELECT least(:after::bigint, max(id)) FROM tenure_jobs) - :near::bigint

-- name: store_now
-- What time the store thinks it is.
SELECT {now}::bigint

-- fragment: whole_job
-- With what lists leave where it is: payload, result, and the jobs it waits for.
{job}, coalesce(payload, (SELECT p.payload FROM tenure_payloads p
    WHERE p.job_id = tenure_jobs.id)), result,
    CASE WHEN state = 0 AND hold & 2 = 2 THEN (SELECT json_agg(a.waits_for)::text FROM tenure_after a
        WHERE a.job_id = tenure_jobs.id) END

-- name: get_job
SELECT {whole_job} FROM tenure_jobs WHERE id = :id::bigint

-- name: get_jobs
-- Many at once, for all who wait.
SELECT {whole_job} FROM tenure_jobs WHERE id = ANY(:ids::bigint[])

-- name: page_jobs
-- Newest first, from behind the cursor; payloads stay where they are.
SELECT {job} FROM tenure_jobs WHERE id < :after::bigint {where}
ORDER BY id DESC LIMIT :limit::bigint

-- name: page_open_jobs
-- The same of jobs that have not ended: each part is what one partial index holds, so that the number
-- of finished rows does not matter. The sums keep the planner from walking the primary key instead.
SELECT {job} FROM tenure_jobs WHERE id = ANY(ARRAY(
    SELECT id FROM (
        SELECT id FROM tenure_jobs WHERE state = 0 AND hold = 0 AND id + 0 < :after::bigint {where}
        UNION ALL
        SELECT id FROM tenure_jobs WHERE state = 0 AND hold <> 0 AND id + 0 < :after::bigint {where}
        UNION ALL
        SELECT id FROM tenure_jobs WHERE state = 1 AND id + 0 < :after::bigint {where}
    ) open_jobs ORDER BY id + 0 DESC LIMIT :limit::bigint))
ORDER BY id DESC

-- name: count_jobs
SELECT {shown_state} AS shown, count(*) FROM tenure_jobs WHERE true {where} GROUP BY shown

-- name: depths
-- Open jobs by queue and kind; each part is what one partial index holds, so that the number of
-- finished rows does not matter.
SELECT queue, kind, state, count(*), min(run_at) FROM (
    SELECT queue, kind, state, run_at FROM tenure_jobs WHERE state = 0 AND hold = 0
    UNION ALL
    SELECT queue, kind, state, run_at FROM tenure_jobs WHERE state = 0 AND hold <> 0
    UNION ALL
    SELECT queue, kind, {shown_state}, run_at FROM tenure_jobs WHERE state = 1
) open GROUP BY queue, kind, state ORDER BY queue, kind, state

-- name: next_queue
-- The queues with jobs that may run, one after the other: a jump through the due index each.
SELECT queue FROM tenure_jobs WHERE state = 0 AND hold = 0 AND queue > :after::text
ORDER BY queue LIMIT 1

-- name: queue_load
-- Jobs of one queue that may run, those that are due, and the oldest; from the due index alone, and no
-- more than so many are counted.
SELECT count(*), count(*) FILTER (WHERE run_at <= {now}), min(run_at) FROM (
    SELECT run_at FROM tenure_jobs WHERE queue = :queue::text AND state = 0 AND hold = 0
    ORDER BY priority, tenant, run_at LIMIT :limit::bigint) few

-- name: held_load
SELECT queue, count(*) FROM (
    SELECT queue FROM tenure_jobs WHERE state = 0 AND hold <> 0 ORDER BY id LIMIT :limit::bigint
) few GROUP BY queue

-- name: running_load
SELECT queue, count(*) FROM (
    SELECT queue FROM tenure_jobs WHERE state = 1 AND standing <> 1 ORDER BY lease_until LIMIT :limit::bigint
) few GROUP BY queue

-- name: job_history
SELECT fence, attempt, entry, worker, started_at, finished_at, failure
FROM tenure_attempts WHERE job_id = :id::bigint ORDER BY fence

-- name: failure_counts
-- The newest line that has counts has those of every class; a retry by an operator starts anew.
SELECT entry, failure FROM tenure_attempts
WHERE job_id = :id::bigint AND (entry = 'retried' OR failure LIKE :counts::text)
ORDER BY fence DESC LIMIT 1

-- name: job_logs
-- Behind the last line that was seen: a page costs the same wherever it begins.
SELECT message, level, at, id FROM tenure_logs WHERE job_id = :id::bigint AND id > :after::bigint
ORDER BY id LIMIT :limit::bigint

-- name: stuck_jobs
-- Running jobs whose lease ran out at least so long ago: nobody took them up.
SELECT count(*), min(lease_until) FROM tenure_jobs
WHERE state = 1 AND lease_until < {now} - :grace::bigint

-- name: jobs_ahead
-- Due jobs of the queue that come first: of a better priority, or earlier of the same tenant.
SELECT count(*) FROM (
    SELECT 1 FROM tenure_jobs
    WHERE queue = :queue::text AND state = 0 AND hold = 0 AND run_at <= {now}
        AND (priority < :priority::int OR (priority = :priority::int AND tenant = :tenant::text
            AND (run_at, id) < (:run_at::bigint, :id::bigint)))
    LIMIT :limit::bigint) ahead

-- name: order_head
-- Who is at the head of an ordering key, or stands in the way because it failed.
SELECT id, state FROM tenure_jobs
WHERE tenant = :tenant::text AND ordering_key = :ordering_key::text AND ordering_key IS NOT NULL
    AND state IN (0, 1, 3, 4) AND hold & 1 = 0 AND (state IN (0, 1) OR chained & 2 = 0)
ORDER BY id LIMIT 1

-- name: cancel_requests
-- Those of these running jobs that are asked to stop.
SELECT id FROM tenure_jobs
WHERE id = ANY(ARRAY(SELECT unnest(:ids::bigint[]))) AND state + 0 = 1 AND cancel_requested = 1
