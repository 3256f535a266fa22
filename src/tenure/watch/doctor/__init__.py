"""What `tenure doctor` and the dashboard check: facts, and what to do about them."""
