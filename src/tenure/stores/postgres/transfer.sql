-- name: read_mark
-- Why nobody may use this database now; no row where everybody may.
SELECT name FROM tenure_migrations WHERE version = 0

-- name: put_mark
-- A schema that serves no code yet: whoever opens the database is refused, old code too.
INSERT INTO tenure_migrations (version, name, serves) VALUES (0, :name::text, 1000000000)

-- name: remove_mark
DELETE FROM tenure_migrations WHERE version = 0

-- name: shut_jobs
-- For programs that opened the database before it was marked: an enqueue that is lost is refused.
CREATE OR REPLACE FUNCTION tenure_moved() RETURNS trigger LANGUAGE plpgsql AS
$$BEGIN RAISE EXCEPTION 'these jobs were moved to another database by tenure move'; END$$;
DROP TRIGGER IF EXISTS tenure_moved ON tenure_jobs;
CREATE TRIGGER tenure_moved BEFORE INSERT OR UPDATE ON tenure_jobs
FOR EACH ROW EXECUTE FUNCTION tenure_moved()

-- name: open_jobs
DROP TRIGGER IF EXISTS tenure_moved ON tenure_jobs;
DROP FUNCTION IF EXISTS tenure_moved()
