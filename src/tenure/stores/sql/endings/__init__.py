"""Features that follow the endings of jobs."""
