"""What happens to jobs, as it happens: many clients, one reader in each process, no connection
held for anybody.
"""

from tenure.api.events.hub import Hub

__all__ = ["Hub"]
