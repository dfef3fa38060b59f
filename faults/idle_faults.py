"""The faults of a connection that lies idle: it is ended, and the forwarder knows before it sends the next request."""

from faults.acts import EndIdle
from faults.coverage import REUSED_TOO
from faults.fault import Fault
from faults.vocabulary import Ending

_NOTHING_WRITTEN = "RFC 9112 s9.5: nothing was written on it; a request takes another connection"
_SAFE = "SAFE evidence: it proves that nothing was applied"


def idle_faults() -> list[Fault]:
    """Ended by FIN, by RST, and with a reply that nobody had asked for."""
    acts = (
        ("idle-fin", EndIdle(ending=Ending.FIN), "is closed, and the forwarder has noticed before it sends again"),
        ("idle-reset", EndIdle(ending=Ending.RESET), "is reset before the forwarder sends again"),
        (
            "idle-408",
            EndIdle(ending=Ending.FIN, status=408),
            "gets a 408 that nobody asked for and is closed, before the forwarder sends again",
        ),
    )
    return [
        Fault(
            id=id_,
            says=f"an idle connection {says}",
            act=act,
            row="K1",
            authority=_NOTHING_WRITTEN,
            no_twin=_SAFE,
            coverage=REUSED_TOO,
        )
        for id_, act, says in acts
    ]
