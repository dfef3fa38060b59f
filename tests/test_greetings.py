"""A certificate that strikes is waited for, where Toxiproxy passes the end of its connection on late."""

import pytest

from fake_router.entries import AnyEntry
from suites.stage import shown_to_no_end
from tests.ledgers import closed, opened, received, striking, struck

SHOWN = (opened(1), striking("certificate-wrong-name", connection=1))
STALLED = (opened(1), striking("handshake-stall", connection=1))


@pytest.mark.parametrize(
    ("entries", "waits"),
    [
        (SHOWN, True),
        ((*SHOWN, closed(2)), True),
        ((*SHOWN, closed(1), struck(2)), False),
        ((*SHOWN, received(1)), False),
        (STALLED, False),
        ((), False),
    ],
)
def test_who_was_shown_a_certificate_is_waited_for(entries: tuple[AnyEntry, ...], waits: bool) -> None:
    """Until its connection has ended, or it has sent a request all the same; silence of the router's own is not."""
    assert shown_to_no_end(entries) is waits
