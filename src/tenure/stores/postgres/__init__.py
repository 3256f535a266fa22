"""PostgreSQL 15 or newer, with psycopg 3."""
