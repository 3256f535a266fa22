-- name: greet
-- Once more.
INSERT INTO hello_greetings (name, times) VALUES (:name, 1)
ON CONFLICT (name) DO UPDATE SET times = hello_greetings.times + 1

-- name: list_greetings
-- Whom we know best first.
SELECT name, times FROM hello_greetings ORDER BY times DESC, name LIMIT :most
