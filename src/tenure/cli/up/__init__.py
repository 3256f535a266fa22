"""`tenure up`: API, dashboard and workers with one command."""
