"""Migrations and queries for sqlite."""
