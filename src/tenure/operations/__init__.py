"""What operators read and change: jobs, queues, limits, tenants, the audit log."""
