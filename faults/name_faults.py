"""The faults of name resolution: the router's name does not lead to it."""

from faults.acts import Misresolve, Resolution
from faults.fault import Fault

_NOTHING_SENT = "no byte of the request was sent; RFC 9209 s2.3.2 and s2.3.3: dns_timeout, dns_error"
_SAFE = "SAFE evidence: it proves that nothing was applied"
_WAYS = (
    ("name-unknown", Resolution.NXDOMAIN, "the name server says that there is no such name (NXDOMAIN)"),
    ("name-failed", Resolution.SERVFAIL, "the name server says that it cannot tell (SERVFAIL)"),
    ("name-unanswered", Resolution.SILENCE, "the name server says nothing"),
    ("name-stale", Resolution.STALE, "the first answer is an address at which nobody listens any more"),
)


def name_faults() -> list[Fault]:
    """No such name, cannot tell, no answer, and an address that has changed."""
    return [
        Fault(
            id=id_,
            says=says,
            act=Misresolve(how=how),
            row="C1",
            authority=_NOTHING_SENT,
            no_twin=_SAFE,
        )
        for id_, how, says in _WAYS
    ]
