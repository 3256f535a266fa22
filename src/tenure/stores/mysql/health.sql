-- name: table_sizes
-- Our tables as the server's statistics see them. It does not count rows that wait for its purge.
SELECT table_name, data_length, index_length, table_rows, NULL, NULL
FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name LIKE 'tenure\_%'
ORDER BY data_length + index_length DESC

-- name: old_snapshots
-- Open transactions, the oldest first, and how many changes wait for the last of them to end. The
-- server tells the start in its own time zone.
(SELECT 'thread', CAST(t.trx_mysql_thread_id AS CHAR),
    concat_ws(', ', p.user, p.command, left(t.trx_query, 80)),
    TIMESTAMPDIFF(SECOND, t.trx_started, CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM')), NULL
FROM information_schema.innodb_trx t
LEFT JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
WHERE t.trx_mysql_thread_id NOT IN (0, CONNECTION_ID())
ORDER BY t.trx_started LIMIT 5)
UNION ALL
SELECT 'history', '', '', NULL, m.count
FROM information_schema.innodb_metrics m WHERE m.name = 'trx_rseg_history_len'
