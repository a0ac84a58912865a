"""The command line: parses it, calls a command and returns the exit status."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Generator, Sequence
from types import FrameType

from harness.commands.parser import parse
from harness.commands.shared import AS_EXPECTED, HARNESS_FAILED
from harness.errors import ConformanceError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status."""
    advice = ""
    try:
        with _signals():
            options = parse(sys.argv[1:] if arguments is None else arguments)
            advice = options.if_stopped
            status = options.call(options)
            sys.stdout.flush()
    except ConformanceError as error:
        _print_error(str(error), error.advice)
        return error.status
    except BrokenPipeError:
        # The reader of our output, such as head, has read enough.
        _discard_output()
        return AS_EXPECTED
    except OSError as error:
        if error.filename is not None or error.errno != errno.ENOSPC:
            return _bug()
        _discard_output()
        _print_error(f"cannot write the output: {error.strerror}.")
        return HARNESS_FAILED
    except KeyboardInterrupt as stop:
        number = stop.number if isinstance(stop, _Stopped) else signal.SIGINT
        _print_error(f"stopped by {signal.Signals(number).name}.", advice)
        return 128 + number
    except Exception:  # noqa: BLE001 - Python's own exit status for it is 1, which means something else here
        return _bug()
    return status


class _Stopped(KeyboardInterrupt):
    """A signal that ends the command as Ctrl-C does: everything is cleaned up."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def _stop(number: int, _: FrameType | None) -> None:
    raise _Stopped(number)


@contextlib.contextmanager
def _signals() -> Generator[None]:
    """Let SIGTERM and SIGHUP raise an exception, as SIGINT does, unless they are ignored (nohup) or handled."""
    former: dict[int, object] = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                former[number] = signal.signal(number, _stop)
    try:
        yield
    finally:
        for number in former:
            signal.signal(number, signal.SIG_DFL)


def _print_error(message: str, advice: str = "") -> None:
    print(f"onnx-conformance: {message}", file=sys.stderr)
    if advice:
        print(f"  {advice}", file=sys.stderr)


def _discard_output() -> None:
    """Redirect standard output to nowhere, so that what is still buffered does not raise again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _bug() -> int:
    traceback.print_exc()
    _print_error("this is a bug in the harness; please report it with the lines above.")
    return HARNESS_FAILED
