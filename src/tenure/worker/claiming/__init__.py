"""Asking the store for jobs, and taking in what it hands out."""
