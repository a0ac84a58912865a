"""What can go wrong, and whose move it is: a base class an exit status; each situation is a class in its own room."""


class ConformanceError(Exception):
    """The harness itself failed (exit status 3): a broken file, a full disk, a worker that cannot start.

    A subclass is a situation. Its message says what was wanted, what was found and where;
    ``advice`` says what to do next and is printed on its own line.
    """

    status = 3
    advice = ""

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        if advice:
            self.advice = advice


class UsageError(ConformanceError):
    """The person asked for something that is not there or cannot be done (exit status 2)."""

    status = 2
