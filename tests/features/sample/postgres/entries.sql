-- fragment: entry
id, name, words, signed_at

-- name: add_entry
-- Signed at the time of the database.
INSERT INTO guestbook_entries (name, words, signed_at) VALUES (:name, :words, {now})

-- name: list_entries
-- Newest first.
SELECT {entry} FROM guestbook_entries ORDER BY id DESC LIMIT :most

-- name: get_entry
-- One of them.
SELECT {entry} FROM guestbook_entries WHERE id = :id

-- name: count_entries
-- For the metric.
SELECT count(*) FROM guestbook_entries

-- name: oldest_entries
-- For pruning, in bounded parts.
SELECT {entry} FROM guestbook_entries ORDER BY id LIMIT :most

-- name: remove_entry
-- By its id.
DELETE FROM guestbook_entries WHERE id = :id
