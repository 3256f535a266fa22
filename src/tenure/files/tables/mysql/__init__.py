"""Migrations and queries for mysql."""
