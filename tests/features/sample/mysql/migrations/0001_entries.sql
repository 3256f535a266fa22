-- serves: 1
-- Who signed, and what they said.
CREATE TABLE guestbook_entries (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name VARCHAR(100) NOT NULL,
    words VARCHAR(500) NOT NULL,
    signed_at BIGINT NOT NULL
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
