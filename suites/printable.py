"""What came from outside, as a terminal or a report may show it: what would steer a terminal is spelled out."""

import re

_KEPT = "\n\t"
_ELIDED = " [...] "
MAX_CHARACTERS = 8_000  # of one message: more than the last words of a subject, and less than what floods a terminal
_MAX_WORD = 1_000  # characters without a space between: longer than most paths, and no value that a person has typed
_LONG_WORD = re.compile(rf"\S{{{_MAX_WORD + 1},}}")


def printable(text: str) -> str:
    """The same text, with every character that moves, hides or colours others (C0 and C1 controls, DEL, bidi marks,
    lone surrogates) as its escape in Python; lines and tabs stay.
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in _KEPT else _escape(one) for one in text)


def on_one_line(text: str) -> str:
    """The same, with its line breaks and tabs as escapes too."""
    return text if text.isprintable() else "".join(one if one.isprintable() else _escape(one) for one in text)


def shortened(text: str, most: int = MAX_CHARACTERS) -> str:
    """Its beginning and its end, where it is longer than that."""
    if len(text) <= most:
        return text
    half = (most - len(_ELIDED)) // 2
    return f"{text[:half]}{_ELIDED}{text[-half:]}"


def legible(message: str) -> str:
    """The same message, with the beginning and the end of what in it is too long to be read: what was expected instead
    of a value is seen beside it.
    """
    return shortened(_LONG_WORD.sub(lambda word: shortened(word[0], _MAX_WORD // 4), message))


def printable_json(data: bytes) -> bytes:
    """The same JSON, which may hold any text, as a terminal may show it. What encodes it has escaped C0."""
    if data.isascii() and b"\x7f" not in data:
        return data
    return re.sub(r"[^\n\t\x20-\x7e]", _json_escape, data.decode()).encode()


def _escape(one: str) -> str:
    return one.encode("unicode_escape").decode()


def _json_escape(found: re.Match[str]) -> str:
    """RFC 8259 s7: above U+FFFF as a surrogate pair."""
    one = found[0]
    if one.isprintable():
        return one
    units = one.encode("utf-16-be")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))
