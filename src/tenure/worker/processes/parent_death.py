"""Processes that end with the process that started them."""

from __future__ import annotations

import os
import signal
import sys

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def die_with_parent(parent: int | None = None) -> None:
    """On Linux, have the kernel end this process with its parent.

    The parent may have died before that call: `parent` tells.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """On Linux, become the parent of what our descendants leave behind. Otherwise process 1 would,
    and in a container that is often the worker itself, which does not wait for them.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
