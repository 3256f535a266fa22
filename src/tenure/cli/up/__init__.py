"""`tenure up`: API, page and workers from one command."""
