"""What carries hints between processes, beside the database itself."""
