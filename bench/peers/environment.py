"""The peers' own virtual environment, made when it is first needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements.txt"
PLACE = HERE / ".venv"
STAMP = PLACE / "made-from"


def python() -> Path:
    """The interpreter that can import the peers."""
    wanted = REQUIREMENTS.read_text()
    if not STAMP.is_file() or STAMP.read_text() != wanted:
        print("making the peers' environment from bench/peers/requirements.txt", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", PLACE], check=True)
        pip = [str(PLACE / "bin" / "python"), "-m", "pip", "-qq", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--requirement", str(REQUIREMENTS)], check=True)
        STAMP.write_text(wanted)
    return PLACE / "bin" / "python"
