"""The faults of a reply that comes late, or bit by bit; and the one that is simply well."""

from faults.acts import HEALTHY
from faults.answer import Answer, Drip, Pause
from faults.coverage import (
    CORE,
    FOLLOWED_ONLY,
    ONCE,
    Dimension,
    and_in,
    in_all_forms,
    left,
    over_tls,
    segmented,
    streamed,
)
from faults.fault import RAN, RFC_RETRY, Fault
from faults.vocabulary import Framing, Point, Side

_SIZES = (Dimension.EACH_BYTE, Dimension.FIRST_64KB, Dimension.FIRST_2MB)
_SLOW = "a slow answer is an answer"
_NEAR = "it may come before the forwarder gives up, or after: both forbid a retry"


def time_faults() -> list[Fault]:
    """Delays around the read timeout, drips, and health."""
    return [*_delays(), *_drips(), _healthy()]


def _delays() -> list[Fault]:
    """The evidence of one that comes after the read timeout is silence, whatever comes of it."""
    inside = (
        ("slow-inside", "after a third of the read timeout", 1 / 3, _SLOW, RAN, left(streamed(CORE))),
        ("slow-near", "shortly before the read timeout", 0.8, _SLOW, _NEAR, ONCE),
    )
    beyond = (
        ("slow-past", "shortly after the read timeout", 1.2, ONCE),
        ("slow-beyond", "after two read timeouts, when the forwarder has given up", 2.0, CORE),
        ("slow-long", "after three read timeouts, when the forwarder does something else", 3.0, FOLLOWED_ONLY),
    )
    return [
        *(
            Fault(
                id=id_,
                says=f"the reply comes {says}",
                act=Answer(side=Side.AFTER, delay=delay),
                row="H3",
                authority=authority,
                no_twin=no_twin,
                coverage=coverage,
            )
            for id_, says, delay, authority, no_twin, coverage in inside
        ),
        *(
            Fault(
                id=id_,
                says=f"the reply comes {says}",
                act=Answer(side=Side.AFTER, delay=delay),
                row="H3",
                authority=RFC_RETRY,
                twin="silence-before",
                coverage=coverage,
            )
            for id_, says, delay, coverage in beyond
        ),
    ]


def _drips() -> list[Fault]:
    drips = (
        ("drip-bytes", "byte by byte, without a pause", Drip(pieces=None), Framing.LENGTH),
        ("drip-inside", "in five pieces, within the read timeout", Drip(pieces=5, pause=0.1), Framing.LENGTH),
        ("drip-beyond", "in six pieces that take two read timeouts", Drip(pieces=6, pause=0.4), Framing.CHUNKED),
        (
            "split-last-chunk",
            "chunked, with a pause inside the last chunk",
            Pause(at=Point.IN_LAST_CHUNK, length=0.1),
            Framing.CHUNKED,
        ),
    )
    return [
        Fault(
            id=id_,
            says=f"the reply comes {says}",
            act=Answer(side=Side.AFTER, pace=pace, framing=framing),
            row="B4",
            authority=_SLOW,
            no_twin=RAN,
        )
        for id_, says, pace, framing in drips
    ]


def _healthy() -> Fault:
    return Fault(
        id="healthy",
        says="nothing is wrong",
        act=HEALTHY,
        row="-",
        authority="RFC 9110 s15.3: a 2xx says that the request was accepted",
        no_twin=RAN,
        coverage=and_in(*_SIZES, coverage=over_tls(left(in_all_forms(segmented(CORE))))),
    )
