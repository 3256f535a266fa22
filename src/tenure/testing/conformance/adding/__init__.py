"""Adding jobs: plain ones, unique keys, dependencies."""
