"""Running handlers: slots, threads, timeouts."""
