"""What a handler and its callers touch: handler, options, running job, steps, transaction."""
