"""Writing on a SQL database: add, settle, release, purge."""
