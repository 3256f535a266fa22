"""What your code touches: handlers, options, the running job, steps, transactions, waiting."""
