-- name: table_sizes
-- Our tables as the planner's statistics see them: bytes, rows, and what vacuum has still to do.
SELECT s.relname::text, pg_table_size(s.relid), pg_indexes_size(s.relid), s.n_live_tup, s.n_dead_tup,
    (extract(epoch FROM greatest(s.last_vacuum, s.last_autovacuum)) * 1000000)::bigint
FROM pg_stat_user_tables s
WHERE s.relname LIKE 'tenure\_%' AND s.relid = to_regclass(quote_ident(s.relname))
ORDER BY pg_total_relation_size(s.relid) DESC

-- name: old_snapshots
-- Whatever keeps vacuum from removing rows of this database, the oldest first: open transactions,
-- prepared ones, replication slots. A slot has no age in seconds.
SELECT kind, holder, doing, seconds, transactions FROM (
    SELECT 'session' AS kind, pid::text AS holder,
        concat_ws(', ', usename, nullif(application_name, ''), state, left(query, 80)) AS doing,
        extract(epoch FROM clock_timestamp() - xact_start)::float8 AS seconds,
        greatest(age(backend_xmin), age(backend_xid))::bigint AS transactions
    FROM pg_stat_activity
    WHERE (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) AND pid <> pg_backend_pid()
        AND datname = current_database() AND backend_type <> 'autovacuum worker'
    UNION ALL
    SELECT 'prepared', gid, owner::text,
        extract(epoch FROM clock_timestamp() - prepared)::float8, age(transaction)::bigint
    FROM pg_prepared_xacts WHERE database = current_database()
    UNION ALL
    SELECT 'slot', slot_name::text, CASE WHEN active THEN 'in use' ELSE 'not in use' END,
        NULL, age(xmin)::bigint
    FROM pg_replication_slots WHERE xmin IS NOT NULL
) holders ORDER BY transactions DESC NULLS LAST, seconds DESC NULLS LAST LIMIT 5
