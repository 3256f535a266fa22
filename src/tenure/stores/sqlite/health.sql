-- name: table_sizes
-- The file as a whole; its free pages in place of dead rows. By table it would have to be read.
SELECT 'file', page_count * page_size, 0, NULL, freelist_count, NULL
FROM pragma_page_count, pragma_page_size, pragma_freelist_count

-- name: old_snapshots
-- SQLite does not know its readers. The length of the log tells of them.
SELECT '', '', '', NULL, NULL WHERE false
