"""Distributions for tests: what an installer leaves, in a folder on the path."""

from __future__ import annotations

from pathlib import Path

from tenure.cli import feature_commands
from tenure.feature.installed import GROUP, installed


def install(folder: Path, name: str, entry: str) -> None:
    """The metadata of a distribution with one entry point of a feature."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{entry}\n")
    forget()


def forget() -> None:
    """What is read once in a process, and is other in every test."""
    installed.cache_clear()
    feature_commands.installed_features.cache_clear()
