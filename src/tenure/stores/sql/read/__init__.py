"""Reading on a SQL database: pages, filters, sizes."""
