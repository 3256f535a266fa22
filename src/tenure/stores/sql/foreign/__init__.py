"""The caller's own transaction: run a plan in it, and learn of its commit."""
