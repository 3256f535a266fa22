"""Claiming on a SQL database: lanes, sweeps, limits, lost leases."""
