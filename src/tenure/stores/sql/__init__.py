"""The body that the SQL databases share. A dialect brings `.sql` files and a driver.

A *plan* is a generator: it yields statements and is sent their rows. It never touches a driver,
so the same plan runs on our connection, in the caller's transaction, or on an async driver.
"""
