"""Why the store refuses: nothing was stored, and nothing may run."""


class StoreError(Exception):
    """A refusal; the message says why."""


class UnknownSessionError(StoreError):
    """There is no such session: it never was, or it has ended (404)."""


class OtherContentError(StoreError):
    """The key was used for an operation with other content (422: a caller re-sends on 409 for ever)."""


class FullError(StoreError):
    """There is no room now; later there may be (429)."""


class TooLargeError(StoreError):
    """Its result could never fit, however empty the store is (413)."""


class JournalError(StoreError):
    """It cannot be written down, so that a crash would forget it (503); or the journal cannot be opened."""


class ClosedError(JournalError):
    """The store is shutting down (503)."""
