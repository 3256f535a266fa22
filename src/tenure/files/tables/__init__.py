"""The tables of files."""
