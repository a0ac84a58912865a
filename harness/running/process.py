"""A worker process: started with limits, spoken to in lines, and killed together with its children."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import harness
from harness.backend import watchdog
from harness.backend.loading import COMMAND_PREFIX
from harness.errors import UsageError
from harness.text import shortened

_SINGLE_THREADED = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "RAYON_NUM_THREADS",
    ),
    "1",
)
"""Defaults; the user's environment takes precedence."""
_WORKER = """\
import sys
sys.path.append(sys.argv[1])
from harness.backend import watchdog, worker
watchdog.apply_limits(int(sys.argv[2]), int(sys.argv[3]))
worker.main(sys.argv[4])
"""
_MAX_LINE_BYTES = 1 << 20
_MAX_STDERR_BYTES = 1 << 24
"""Standard error is truncated when its file on disk exceeds this size."""
_EXIT_SECONDS = 2.0
"""How long a process that has closed its output may take to exit."""
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class NoProgram(UsageError):
    """The program of a ``command:`` does not exist."""


class ProtocolViolation(Exception):
    """A worker sent something that the protocol does not allow; the message follows "answered with"."""


def worker_command(spec: str, memory_limit: int) -> list[str]:
    """The command that starts a worker for a backend, with this process as its parent. Raises NoProgram.

    ``memory_limit`` is in bytes; 0 sets no limit.
    """
    parent, memory = str(os.getpid()), str(memory_limit)
    if not spec.startswith(COMMAND_PREFIX):
        root = str(Path(harness.__file__).parent.parent)
        return [sys.executable, "-P", "-c", _WORKER, root, parent, memory, spec]
    try:
        program = shlex.split(spec.removeprefix(COMMAND_PREFIX))
    except ValueError as error:
        raise NoProgram(f"{spec!r} is not a command: {error}.", "Quote it as for a shell.") from error
    if not program:
        raise NoProgram("command: names no program.", "Write it as for a shell: command:node runner.js.")
    if shutil.which(program[0]) is None:
        raise NoProgram(f"There is no program {program[0]!r}.", "Install the program, or give its path.")
    return [sys.executable, "-I", "-S", watchdog.__file__, parent, memory, *program]


class WorkerProcess:
    """A started worker, in a process group of its own."""

    def __init__(self, command: list[str], scratch: str, environment: Mapping[str, str] | None = None) -> None:
        log = f"{scratch}/stderr"
        self._log = os.open(log, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.unlink(log)  # noqa: PTH108 - the file needs no name, so it cannot be left behind
        try:
            self._process = subprocess.Popen(
                command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                start_new_session=True,
                env={**_SINGLE_THREADED, **(os.environ if environment is None else environment)},
            )
        except BaseException:
            os.close(self._log)
            raise
        assert self._process.stdin and self._process.stdout  # noqa: PT018 - both are pipes
        self.pid = self._process.pid
        self.requests = self._process.stdin.fileno()
        self.answers = self._process.stdout.fileno()
        os.set_blocking(self.requests, False)
        os.set_blocking(self.answers, False)
        self._unsent = bytearray()
        self._partial_line = bytearray()

    def send(self, line: bytes) -> bool:
        """Send a line, or as much of it as the pipe takes. False if ``flush`` must send the rest."""
        self._unsent += line
        return self.flush()

    def flush(self) -> bool:
        """Send what is unsent; True if nothing is left. If the worker has ended, ``receive`` reports it."""
        try:
            del self._unsent[: os.write(self.requests, self._unsent)]
        except BlockingIOError:
            return False
        except OSError:
            self._unsent.clear()
        return not self._unsent

    def receive(self) -> list[bytes] | None:
        """The lines received since the last call; None if the worker has closed its output.

        Raises ProtocolViolation for a line that is too long.
        """
        try:
            data = os.read(self.answers, 1 << 16)
        except BlockingIOError:
            return []
        if not data:
            return None
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = bytes(self._partial_line) + lines[0]
            self._partial_line.clear()
        self._partial_line += rest
        if len(self._partial_line) > _MAX_LINE_BYTES:
            raise ProtocolViolation(f"an endless line, {excerpt(self._partial_line)}")
        return lines

    def is_running(self) -> bool:
        """Whether the process itself runs; a child may still hold its output open after it has ended."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def memory_usage(self) -> int:
        """Resident memory in bytes; 0 if the system does not report it."""
        try:
            with open(f"/proc/{self.pid}/statm", "rb") as file:  # noqa: PTH123 - several times a second
                return int(file.read().split()[1]) * _PAGE_BYTES
        except (OSError, IndexError):
            return 0

    def trim_log(self) -> None:
        """Truncate the file of standard error if it is too large."""
        if os.fstat(self._log).st_size > _MAX_STDERR_BYTES:
            os.ftruncate(self._log, 0)

    def last_error_line(self) -> str:
        """The last line of standard error that is not blank."""
        size = os.fstat(self._log).st_size
        tail = os.pread(self._log, 4096, max(0, size - 4096)).decode(errors="replace")
        lines = [" ".join(line.split()) for line in tail.splitlines()]
        text = next((line for line in reversed(lines) if line), "")
        return shortened("".join(c for c in text if c.isprintable()), 300)

    def end(self) -> str:
        """End the process and its children, and return how it ended, such as "exited with status 1"."""
        has_exited = self._wait_for_exit()
        self.kill()
        code = self._process.wait()
        if not has_exited:
            return "closed its standard output"
        if code >= 0:
            return f"exited with status {code}"
        try:
            return f"was killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"was killed by signal {-code}"

    def close_input(self) -> None:
        """Close its input, after which a worker exits."""
        if self._process.stdin:
            self._process.stdin.close()

    def kill(self) -> None:
        """Kill the process group, which includes the children of a worker that has ended."""
        if self._process.returncode is not None:
            return  # reaped, so the number may belong to another process by now
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the process, reap it and close its descriptors."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()
        os.close(self._log)

    def _wait_for_exit(self) -> bool:
        deadline = time.monotonic() + _EXIT_SECONDS
        while self.is_running():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.001)
        return True


def excerpt(line: bytes | bytearray) -> str:
    """The beginning of a line that is not a valid answer."""
    return repr(shortened(bytes(line[:200]).decode(errors="replace"), 80))
