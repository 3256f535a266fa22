"""Migrations and queries for postgres."""
