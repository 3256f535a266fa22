-- name: read_mark
-- Why nobody may use this database now; no row where everybody may.
SELECT name FROM tenure_migrations WHERE version = 0

-- name: put_mark
-- A schema that serves no code yet: whoever opens the database is refused, old code too.
INSERT INTO tenure_migrations (version, name, serves) VALUES (0, :name, 1000000000)

-- name: remove_mark
DELETE FROM tenure_migrations WHERE version = 0

-- name: shut_jobs
-- For programs that opened the database before it was marked: an enqueue that is lost is refused.
DROP TRIGGER IF EXISTS tenure_moved_insert;
DROP TRIGGER IF EXISTS tenure_moved_update;
CREATE TRIGGER tenure_moved_insert BEFORE INSERT ON tenure_jobs
BEGIN SELECT RAISE(ABORT, 'these jobs were moved to another database by tenure move'); END;
CREATE TRIGGER tenure_moved_update BEFORE UPDATE ON tenure_jobs
BEGIN SELECT RAISE(ABORT, 'these jobs were moved to another database by tenure move'); END

-- name: open_jobs
DROP TRIGGER IF EXISTS tenure_moved_insert;
DROP TRIGGER IF EXISTS tenure_moved_update
