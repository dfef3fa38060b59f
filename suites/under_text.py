"""What `--under` says: which toxics are laid over every plan, and which one is itself the fault."""

from collections.abc import Iterator
from dataclasses import dataclass

from faults.poison import Poisoning
from faults.toxics import Bandwidth, Direction, Latency, Slicer
from faults.under import Hop, Overlay, OverlayToxic

JOIN = "+"
EXPECTED = (
    "expected latency=MS[,jitter=MS], bandwidth=KB_PER_S or slicer=BYTES[,variation=BYTES][,delay=US], each with "
    f"[,stream=upstream|downstream|both][,hop=router|caller], or one of {', '.join(Poisoning)}; several joined by +"
)
BOTH = "both"
_MAX_DIGITS = 12
# The first value of each is named as the toxic itself is.
_VALUES: dict[str, tuple[type[OverlayToxic], dict[str, str]]] = {
    "latency": (Latency, {"latency": "latency_ms", "jitter": "jitter_ms"}),
    "bandwidth": (Bandwidth, {"bandwidth": "rate_kbytes_s"}),
    "slicer": (Slicer, {"slicer": "average_bytes", "variation": "variation_bytes", "delay": "delay_us"}),
}


class UnderError(ValueError):
    """A text that names no toxics: the message quotes it and says what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Under:
    """overlays: laid over every plan. poison: the toxic that is itself the fault (None: the catalogue's faults are)."""

    overlays: tuple[Overlay, ...] = ()
    poison: Poisoning | None = None

    @property
    def toxiproxy(self) -> bool:
        """Toxiproxy is needed."""
        return bool(self.overlays) or self.poison is not None


NOTHING_OVER = Under()


def under_of(text: str) -> Under:
    """What that text says, as in `latency=20,jitter=10+reset_peer`. Raises UnderError."""
    overlays: list[Overlay] = []
    poisons: list[Poisoning] = []
    for part in text.split(JOIN):
        if part in tuple(Poisoning):
            poisons.append(Poisoning(part))
        else:
            overlays += _overlays(part, text)
    if len(poisons) > 1:
        raise UnderError(f"{text!r} holds {' and '.join(poisons)}; expected at most one toxic that is itself the fault")
    if len({one.place for one in overlays}) < len(overlays):
        raise UnderError(f"{text!r} lays one toxic twice over the same stream; expected each once")
    return Under(overlays=tuple(overlays), poison=poisons[0] if poisons else None)


def _overlays(part: str, text: str) -> Iterator[Overlay]:
    pairs = [pair.partition("=")[::2] for pair in part.split(",")]
    name = pairs[0][0]
    if name not in _VALUES:
        raise UnderError(f"{name!r} in {text!r} is no toxic; {EXPECTED}")
    kind, known = _VALUES[name]
    values: dict[str, int] = {}
    directions: tuple[Direction, ...] = (Direction.DOWNSTREAM,)
    hop = Hop.ROUTER
    seen: set[str] = set()
    for key, value in pairs:
        if key in seen:
            raise UnderError(f"{key!r} stands twice in {part!r}; expected it once")
        seen.add(key)
        if key == "stream":
            directions = _directions(value, text)
        elif key == "hop":
            hop = _hop(value, text)
        elif key in known:
            values[known[key]] = _number(key, value, text)
        else:
            raise UnderError(f"{key!r} in {text!r} is no value of {name}; expected {', '.join(known)}, stream or hop")
    for direction in directions:
        try:
            yield Overlay(toxic=kind(direction=direction, **values), hop=hop)
        except ValueError as error:
            raise UnderError(f"{part!r}: {error}") from None


def _directions(value: str, text: str) -> tuple[Direction, ...]:
    if value == BOTH:
        return tuple(Direction)
    if value not in tuple(Direction):
        raise UnderError(f"stream {value!r} in {text!r}; expected upstream, downstream or both")
    return (Direction(value),)


def _hop(value: str, text: str) -> Hop:
    if value not in tuple(Hop):
        raise UnderError(f"hop {value!r} in {text!r}; expected router or caller")
    return Hop(value)


def _number(key: str, value: str, text: str) -> int:
    if not (value.isascii() and value.isdecimal() and len(value) <= _MAX_DIGITS):
        raise UnderError(f"{key} is {value!r} in {text!r}; expected a whole number of at most {_MAX_DIGITS} digits")
    return int(value)
