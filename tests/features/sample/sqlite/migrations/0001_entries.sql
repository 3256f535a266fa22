-- serves: 1
-- Who signed, and what they said.
CREATE TABLE guestbook_entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name VARCHAR(100) NOT NULL,
    words VARCHAR(500) NOT NULL,
    signed_at BIGINT NOT NULL
);
