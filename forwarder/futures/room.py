"""How much is held and reserved, bounded strictly: what does not fit is refused before it is accepted."""

from forwarder.futures.errors import FullError, TooLargeError
from forwarder.futures.limits import Limits


class Room:
    """Bytes taken, of those that there are."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.taken_bytes = 0

    def take(self, size_bytes: int, *, futures: int = 0) -> None:
        """Take that much for one more of so many futures. Raises TooLargeError where it could never fit, FullError."""
        limits = self._limits
        if size_bytes > limits.max_bytes:
            raise TooLargeError(
                f"this would take {size_bytes} bytes; expected at most {limits.max_bytes}, which is all there are: "
                "ask for fewer samples or tokens at once, or raise --max-stored-bytes"
            )
        if futures >= limits.max_futures:
            raise FullError(f"{futures} operations run or wait to be fetched, and more are not accepted: come again")
        if self.taken_bytes + size_bytes > limits.max_bytes:
            raise FullError(
                f"this would take {size_bytes} bytes, and {self.taken_bytes} of {limits.max_bytes} are taken by "
                "requests, and by results that wait to be fetched or may still come: fetch them and come again"
            )
        self.taken_bytes += size_bytes

    def take_anyway(self, size_bytes: int) -> None:
        """Take what is there already, or small and needed."""
        self.taken_bytes += size_bytes

    def give(self, size_bytes: int) -> None:
        """Give back."""
        self.taken_bytes -= size_bytes
