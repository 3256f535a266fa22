"""MariaDB 10.6 or newer and MySQL 8.0.19 or newer, with PyMySQL: what both understand."""
