"""The small stores beside the jobs."""
