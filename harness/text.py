"""Text for people: an exception on one line, and shortened text."""


def exception_text(error: BaseException, longest: int = 500) -> str:
    """``Type: message`` on one line of at most ``longest`` characters, even if the exception's ``__str__`` raises.

    Lone surrogates, which JSON cannot hold, are escaped.
    """
    name = type(error).__name__
    try:
        text = " ".join(str(error).split()).encode("utf-8", "backslashreplace").decode()
    except Exception:  # noqa: BLE001 - only the message is lost
        text = ""
    return shortened(f"{name}: {text}" if text else name, longest)


def shortened(text: str, longest: int) -> str:
    """The text, or its first ``longest - 1`` characters and an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
