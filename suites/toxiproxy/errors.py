"""What goes wrong with Toxiproxy: one exception, with one message that says what to do."""


class ToxiproxyError(Exception):
    """Toxiproxy cannot be had, or does not do what it was asked for. No fault of a subject: nothing was proved."""


class MissingToxiproxyError(ToxiproxyError):
    """There is no Toxiproxy on this machine; the message says how to get one."""


class UnreachableError(ToxiproxyError):
    """Nobody is where Toxiproxy's API was. What was asked for may or may not have been done."""


class NoAnswerError(ToxiproxyError):
    """Toxiproxy did not do it in time, and may still do it."""


class NotToxiproxyError(ToxiproxyError):
    """What answers is no Toxiproxy, or one of another major version."""


class NotThereError(NotToxiproxyError):
    """What answers knows no such path."""


class RefusedError(ToxiproxyError):
    """Toxiproxy answered and did not do it: a name that is in use, a port that is taken."""


class UnknownNameError(RefusedError):
    """There is nothing of that name."""
