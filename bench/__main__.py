"""`python -m bench NAME`: one figure. Its last line is one JSON object. `all`, or
`--write`, puts it into RESULTS.md.
"""

from __future__ import annotations

import argparse
import os
import time

from bench.children import end_in_order
from bench.figures.all import FIGURES
from bench.figures.scale import Scale
from bench.report import keep, number, run_all


def run_one(name: str, scale: Scale, *, write: bool) -> None:
    """Measure, say it in words, then as JSON."""
    print(f"{name}: {(FIGURES[name].__doc__ or '').strip()}  (load {os.getloadavg()[0]:.1f})")
    begun = time.monotonic()
    result = FIGURES[name](scale)
    value, reference = number(result.value), number(result.reference)
    print(f"  {value} {result.unit} against {reference}, in {time.monotonic() - begun:.0f} s")
    for line in [*map(str, result.checks), *result.notes]:
        print(f"  {line}")
    if write:
        keep(result, list(FIGURES))
    print(result.to_json(), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("names", nargs="+", choices=[*FIGURES, "all"], metavar="NAME")
    parser.add_argument("--scale", type=float, default=1.0, help="0.1: a quick look")
    parser.add_argument("--write", action="store_true", help="put the rows into RESULTS.md")
    args = parser.parse_args()
    if args.write and args.scale != 1:
        parser.error("--write is for whole figures: leave --scale out")
    end_in_order()
    if args.names == ["all"]:
        run_all(list(FIGURES), args.scale)
        return
    for name in args.names:
        run_one(name, Scale(args.scale), write=args.write)


if __name__ == "__main__":
    main()
