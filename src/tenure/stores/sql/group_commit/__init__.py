"""Jobs that several threads or coroutines add at the same time share a statement and a commit."""
