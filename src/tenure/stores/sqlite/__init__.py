"""SQLite: the embedded default. One writer at a time, WAL, durable."""
