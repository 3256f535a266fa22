"""`python -m tests.crash.poisoned …`: the command line, with an engine broken on purpose if asked.

No core files: a job of the campaign aborts.
"""

from __future__ import annotations

import os
import resource

from tenure.cli import main
from tests.crash.mutants import POISON_MUTANTS

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if mutant := os.environ.get("CRASH_MUTANT"):
        POISON_MUTANTS[mutant]()
    main()
