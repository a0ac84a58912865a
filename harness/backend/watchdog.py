"""Limits on a worker process: it ends when its parent ends, writes no core file and has a memory limit.

This file is also a program: ``python watchdog.py PARENT_PID MEMORY_LIMIT PROGRAM ARGS…`` sets the limits and then
executes PROGRAM, which may be written in any language. The module imports the standard library only.
"""

import ctypes
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1


def apply_limits(parent_pid: int, memory_limit: int) -> None:
    """Limit this process: it ends when ``parent_pid`` ends, and its data segment has at most ``memory_limit`` bytes.

    A ``memory_limit`` of 0 sets no limit.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent_pid:  # the parent ended before the call of prctl
        os._exit(1)
    _set_limit(resource.RLIMIT_CORE, 0)
    if memory_limit:
        _set_limit(resource.RLIMIT_DATA, memory_limit)


def _set_limit(kind: int, limit: int) -> None:
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _main(parent_pid: str, memory_limit: str, *program: str) -> None:
    apply_limits(int(parent_pid), int(memory_limit))
    # Python ignores these two signals, and the program would inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execvp(program[0], program)  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.exit(f"{program[0]} cannot be executed: {error.strerror}")


if __name__ == "__main__":
    _main(*sys.argv[1:])
