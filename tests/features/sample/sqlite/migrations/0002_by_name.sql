-- serves: 1
-- The page of one guest.
CREATE INDEX guestbook_entries_by_name ON guestbook_entries (name, id);
