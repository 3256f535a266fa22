"""Layer 6: the command line. Thin: read the options, call one function, shape the answer."""

from __future__ import annotations


def main() -> None:
    """The entry point of `tenure` and of `python -m tenure`."""
    from tenure.cli.root import app

    app(prog_name="tenure")


__all__ = ["main"]
