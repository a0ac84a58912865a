"""A backend's process: started held, spoken to in lines, watched for what it uses, ended with all that it started."""

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
from harness.backend.loading import COMMAND
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
"""Unless the person's own environment says otherwise."""
_WORKER = """\
import sys
sys.path.append(sys.argv[1])
from harness.backend import watchdog, worker
watchdog.hold(int(sys.argv[2]), int(sys.argv[3]))
worker.main(sys.argv[4])
"""
_LONGEST_LINE = 1 << 20
_MOST_STDERR = 1 << 24
"""A chatty library's standard error is kept to this many bytes on disk."""
_GRACE = 2.0
"""Seconds that a process which has closed its output has to be gone."""
_PAGE = os.sysconf("SC_PAGE_SIZE")


class NoProgram(UsageError):
    """A ``command:`` whose program is not there."""


class ProtocolViolation(Exception):
    """A worker said what the protocol does not know; the text says what."""


def command_of(spec: str, memory: int) -> list[str]:
    """The command that starts a worker for a backend, held by this process. Raises NoProgram."""
    parent, most = str(os.getpid()), str(memory)
    if not spec.startswith(COMMAND):
        root = str(Path(harness.__file__).parent.parent)
        return [sys.executable, "-P", "-c", _WORKER, root, parent, most, spec]
    try:
        program = shlex.split(spec.removeprefix(COMMAND))
    except ValueError as error:
        raise NoProgram(f"{spec!r} is no command: {error}.", "Quote it as for a shell.") from error
    if not program:
        raise NoProgram("command: names no program.", "Write it as for a shell: command:node runner.js.")
    if shutil.which(program[0]) is None:
        raise NoProgram(f"There is no program {program[0]!r}.", "Install it, or give its path.")
    return [sys.executable, "-I", "-S", watchdog.__file__, parent, most, *program]


class Process:
    """One started worker; its process group is its own."""

    def __init__(self, command: list[str], scratch: str, environment: Mapping[str, str] | None = None) -> None:
        log = f"{scratch}/stderr"
        self._log = os.open(log, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.unlink(log)  # noqa: PTH108 - it has no name to be found by, nor to be left behind
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
        self._line = bytearray()

    def send(self, line: bytes) -> bool:
        """Send a line, or as much of it as the pipe takes; False where ``flush`` must send the rest."""
        self._unsent += line
        return self.flush()

    def flush(self) -> bool:
        """Send what is unsent; True where nothing is left. A worker that is gone shows when it is listened to."""
        try:
            del self._unsent[: os.write(self.requests, self._unsent)]
        except BlockingIOError:
            return False
        except OSError:
            self._unsent.clear()
        return not self._unsent

    def receive(self) -> list[bytes] | None:
        """The lines that have come since; None where the worker has closed its output. Raises Misbehaved."""
        try:
            data = os.read(self.answers, 1 << 16)
        except BlockingIOError:
            return []
        if not data:
            return None
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = bytes(self._line) + lines[0]
            self._line.clear()
        self._line += rest
        if len(self._line) > _LONGEST_LINE:
            raise ProtocolViolation(f"an endless line, {excerpt(self._line)}")
        return lines

    def is_running(self) -> bool:
        """Whether the process itself is there; a child of its own may still hold its output open."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def resident(self) -> int:
        """Bytes of memory in use, 0 where the system does not tell."""
        try:
            with open(f"/proc/{self.pid}/statm", "rb") as file:  # noqa: PTH123 - several times a second
                return int(file.read().split()[1]) * _PAGE
        except (OSError, IndexError):
            return 0

    def trim_log(self) -> None:
        """Keep standard error from filling the disk."""
        if os.fstat(self._log).st_size > _MOST_STDERR:
            os.ftruncate(self._log, 0)

    def last_error_line(self) -> str:
        """The last line of standard error that says anything."""
        size = os.fstat(self._log).st_size
        tail = os.pread(self._log, 4096, max(0, size - 4096)).decode(errors="replace")
        lines = [" ".join(line.split()) for line in tail.splitlines()]
        text = next((line for line in reversed(lines) if line), "")
        return shortened("".join(c for c in text if c.isprintable()), 300)

    def end(self) -> str:
        """End it and all it started, and tell how it ended where it had done so by itself."""
        gone = self._await_exit()
        self.kill()
        code = self._process.wait()
        if not gone:
            return "closed its standard output"
        if code >= 0:
            return f"exited with status {code}"
        try:
            return f"was killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"was killed by signal {-code}"

    def close_input(self) -> None:
        """Let it end by itself: its input is over."""
        if self._process.stdin:
            self._process.stdin.close()

    def kill(self) -> None:
        """Kill the process group; a worker that is over leaves no children behind."""
        if self._process.returncode is not None:
            return  # reaped, so the number may be another's by now
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill it, reap it and give back its descriptors."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()
        os.close(self._log)

    def _await_exit(self) -> bool:
        deadline = time.monotonic() + _GRACE
        while self.is_running():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.001)
        return True


def excerpt(line: bytes | bytearray) -> str:
    """The beginning of what came instead of an answer."""
    return repr(shortened(bytes(line[:200]).decode(errors="replace"), 80))
