"""The end of runs: settlements, leases, crashes, steps."""
