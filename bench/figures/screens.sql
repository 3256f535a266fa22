-- One of :every jobs failed or is dead, one of 100 is canceled; the newest :open wait, 1,000 run, all others succeeded.
INSERT INTO tenure_jobs (run_at, fence, created_at, started_at, finished_at, lease_until, lease_owner, priority,
    attempt, max_attempts, state, bucket, kind, queue, tenant, unique_key, enqueued_by, payload)
SELECT t.at, CASE WHEN s.state = 0 THEN 0 ELSE 1 END, t.at, CASE WHEN s.state > 0 THEN t.at END,
    CASE WHEN s.state > 1 THEN t.at + 1000000 END, CASE WHEN s.state = 1 THEN t.now + 3600000000 END,
    CASE WHEN s.state > 0 THEN 'worker' END, 2, CASE WHEN s.state = 0 THEN 0 ELSE 1 END, 5, s.state, 0,
    'kind' || n % 20, 'queue' || n % 5, CASE WHEN n % 3 = 0 THEN '' ELSE 't' || n % 50 END,
    CASE WHEN n % 10 = 0 THEN 'key-' || n END, CASE WHEN n % 10 = 1 THEN 'job:' || n - 1 END,
    '{"n":' || n || ',"name":"customer ' || n || '","items":[{"sku":"A' || n % 1000 || '"}]}'
FROM generate_series(1, :rows) n
CROSS JOIN LATERAL (SELECT CASE WHEN n > :rows - 1000 THEN 1 WHEN n > :rows - :open THEN 0
    WHEN n % :every = 3 THEN 3 + (n / :every) % 2 WHEN n % 100 = 6 THEN 5 ELSE 2 END AS state) s
CROSS JOIN LATERAL (SELECT (extract(epoch FROM now()) * 1000000)::bigint AS now,
    ((extract(epoch FROM now()) - 604800 + 604800.0 * n / :rows) * 1000000)::bigint AS at) t;
INSERT INTO tenure_attempts (job_id, fence, started_at, finished_at, attempt, entry, worker, failure, error_group)
SELECT id, fence, started_at, finished_at, 1, 'error', 'worker', '{"type": "SMTPError", "message": "no answer from '
    || id || '", "code": null, "traceback": "' || repeat('frame ', 200) || '"}', :group + id % 200
FROM tenure_jobs WHERE state IN (3, 4);
INSERT INTO tenure_error_groups (whose, kind, error_group, failures, first_at, last_at, sample_job, type, message,
    sample_message)
SELECT w, 'kind' || g % 20, :group + g, 500, t.now, t.now - g, 3, 'SMTPError', 'no answer from <n>', 'no answer from 3'
FROM generate_series(0, 199) g CROSS JOIN (SELECT '*' AS w UNION ALL SELECT '=t' || n FROM generate_series(0, 49) n) o
CROSS JOIN LATERAL (SELECT (extract(epoch FROM now()) * 1000000)::bigint AS now) t;
INSERT INTO tenure_error_hours (whose, kind, error_group, at, n)
SELECT whose, kind, error_group, last_at - last_at % 3600000000 - h * 3600000000::bigint, 10
FROM tenure_error_groups CROSS JOIN generate_series(0, 23) h;
INSERT INTO tenure_rollups (span, at, queue, kind, measure, source, n)
SELECT s.span, t.now - t.now % (s.span * 1000000::bigint) - p * s.span * 1000000::bigint, k.queue, k.kind, m.measure, 0, 10
FROM (VALUES (60, 180), (600, 288), (3600, 840)) s (span, kept)
CROSS JOIN LATERAL generate_series(0, s.kept - 1) p
CROSS JOIN (SELECT 'queue' || n % 5 AS queue, 'kind' || n AS kind FROM generate_series(0, 19) n
    UNION ALL SELECT '', '') k
CROSS JOIN (VALUES (2), (3), (4), (5), (8), (110), (111), (112), (113), (205), (206), (207), (208)) m (measure)
CROSS JOIN LATERAL (SELECT (extract(epoch FROM now()) * 1000000)::bigint AS now) t;
VACUUM ANALYZE;
CHECKPOINT
