"""The base classes of the harness's exceptions: one base class per exit status, one subclass per situation."""


class ConformanceError(Exception):
    """The harness itself failed (exit status 3): a broken file, a full disk, a worker that does not start.

    Each situation is a subclass in its own package. The message says what was expected, what was found and where;
    ``advice`` says what to do next and is printed on a line of its own.
    """

    status = 3
    advice = ""

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        if advice:
            self.advice = advice


class UsageError(ConformanceError):
    """The user asked for something that does not exist or cannot be done (exit status 2)."""

    status = 2
