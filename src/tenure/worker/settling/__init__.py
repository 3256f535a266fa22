"""Writing results, keeping leases."""
