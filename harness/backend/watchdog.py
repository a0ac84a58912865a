"""Limits on a worker: it ends with its parent, writes no core file and has a memory limit.

This file is also a program: ``python watchdog.py PARENT MEMORY PROGRAM ARGS…`` sets the limits and then executes a
program in any language. It imports the standard library only.
"""

import ctypes
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1


def hold(parent: int, memory: int) -> None:
    """Hold this process: ``parent`` is the process it dies with, ``memory`` the bytes of data it may have (0: any)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before the kernel was told to watch it
        os._exit(1)
    _limit(resource.RLIMIT_CORE, 0)
    if memory:
        _limit(resource.RLIMIT_DATA, memory)


def _limit(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _main(parent: str, memory: str, *program: str) -> None:
    hold(int(parent), int(memory))
    # Python ignores these two, and a program would inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execvp(program[0], program)  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.exit(f"{program[0]} does not start: {error.strerror}")


if __name__ == "__main__":
    _main(*sys.argv[1:])
