"""One option of the server: its flag, its environment variable, and how its text becomes its value."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from forwarder.api import values


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option. `default` is text as a user would write it; None: none, and `says` tells what that means.

    several: it may be given several times; in the environment its values stand one after the other, with blanks.
    """

    flag: str
    parse: Callable[[str], Any]
    metavar: str
    says: str
    default: str | None = None
    several: bool = False
    required: bool = False

    @property
    def variable(self) -> str:
        """Its environment variable; a flag on the command line goes before it."""
        return "FORWARDER_" + self.name.upper()

    @property
    def name(self) -> str:
        """Its attribute among the parsed options."""
        return self.flag.removeprefix("--").replace("-", "_")

    @property
    def is_switch(self) -> bool:
        """--flag and --no-flag, without a value."""
        return self.parse is values.switch

    def value_of(self, texts: Sequence[str]) -> Any:
        """Its value, of these texts. Raises argparse.ArgumentTypeError."""
        parsed = [self.parse(text) for text in texts]
        return parsed if self.several else parsed[-1] if parsed else None
