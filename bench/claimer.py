"""A claiming process: `python -m bench.claimer URL SLOTS`.

Answers `pace PER_SECOND SECONDS` with milliseconds, `claim` with the jobs of one claim.
"""

from __future__ import annotations

import json
import sys

from bench.app import make_app
from bench.claims import claim, paced


def main() -> None:
    app, slots = make_app(sys.argv[1]), {"default": int(sys.argv[2])}
    for line in sys.stdin:
        answer: object
        match line.split():
            case ["warm"]:
                answer = app.store.now().isoformat()
            case ["pace", per_second, seconds]:
                answer = paced(app, slots, float(per_second), float(seconds))
            case _:
                answer = claim(app, slots)[1]
        print(json.dumps(answer), flush=True)
    app.close()


if __name__ == "__main__":
    main()
