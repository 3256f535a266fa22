"""Work that a fleet does beside its jobs: removing old ones, lifting those that wait too long."""
