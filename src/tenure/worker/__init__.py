"""Layer 4: claim, run, settle, heartbeat; tick, and background around it."""

from tenure.worker.worker import Worker

__all__ = ["Worker"]
