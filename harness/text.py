"""Text for people: exceptions on one line, and shortened text."""


def exception_text(error: BaseException, max_length: int = 500) -> str:
    """``Type: message`` on one line of at most ``max_length`` characters, even if the exception's ``__str__`` raises.

    Lone surrogates, which JSON cannot hold, are escaped.
    """
    name = type(error).__name__
    try:
        text = " ".join(str(error).split()).encode("utf-8", "backslashreplace").decode()
    except Exception:  # noqa: BLE001 - only the message is lost
        text = ""
    return shortened(f"{name}: {text}" if text else name, max_length)


def shortened(text: str, max_length: int) -> str:
    """The text, or its first ``max_length - 1`` characters and an ellipsis."""
    return text if len(text) <= max_length else text[: max_length - 1] + "…"
