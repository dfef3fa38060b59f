"""What a load needs of a machine, by arithmetic alone."""

from dataclasses import replace

import pytest

from suites.load.limits import SPARE_FILES, LimitError, Limits, Wanted, layout, needed_bytes
from suites.load.machine import available_bytes, limits_here

_HERE = Limits(files=20_000, backlog=4_096, packets=1_000, ports=28_232, cores=2, memory_bytes=24 * 1024**3)


def test_a_small_load_takes_one_process_of_each_kind() -> None:
    """And one source address."""
    found = layout(_HERE, Wanted(in_flight=64))
    assert (found.routers, found.instances, found.callers, found.sources) == (1, 1, 1, 1)


def test_no_process_needs_more_files_than_it_may_have() -> None:
    """An operation takes two sockets in the subject, and one in its router and its caller."""
    found = layout(_HERE, Wanted(in_flight=131_072))
    room = _HERE.files - SPARE_FILES
    assert found.instances == -(-131_072 // (room // 2))
    of_instance = -(-131_072 // found.instances)
    assert -(-found.instances // found.routers) * of_instance <= room  # each router serves whole instances
    assert found.callers * room >= 131_072


def test_one_instance_that_holds_many_is_called_from_several_addresses() -> None:
    """One address has not ports enough for those in flight and those that are in TIME_WAIT."""
    many = replace(_HERE, files=1_000_000)
    assert layout(many, Wanted(in_flight=100_000, most=1)).sources == 8


def test_no_more_connections_are_made_at_once_than_may_wait() -> None:
    """Of all callers together, at one instance."""
    found = layout(_HERE, Wanted(in_flight=131_072))
    assert found.connecting * found.callers <= _HERE.backlog


@pytest.mark.parametrize(
    ("limits", "wanted", "says"),
    [
        (
            replace(_HERE, files=500),
            Wanted(in_flight=1),
            "500 files a process leave 0 for sockets; expected at least 602",
        ),
        (_HERE, Wanted(in_flight=20_000, most=1), "20,000 in flight need 3 instances"),
        (_HERE, Wanted(in_flight=20_000, through=2), "20,000 in flight need 3 Toxiproxy servers"),
        (_HERE, Wanted(in_flight=20_000, instances=2), "600 fewer than 20,000; expected 3: leave the number out"),
        (_HERE, Wanted(in_flight=20_000, routers=1), "1 router processes for 3 instances with 6,667 operations each"),
        (_HERE, Wanted(in_flight=20_000, callers=1), "1 caller processes can hold 19,400"),
        (replace(_HERE, memory_bytes=1024**3), Wanted(in_flight=20_000), "MiB more than are free"),
    ],
)
def test_what_cannot_work_is_refused_with_the_number_that_is_missing(limits: Limits, wanted: Wanted, says: str) -> None:
    """Before anything is started."""
    with pytest.raises(LimitError, match=says):
        layout(limits, wanted)


def test_as_many_processes_as_were_asked_for() -> None:
    """Where they can hold it."""
    found = layout(_HERE, Wanted(in_flight=10, callers=3, instances=4, routers=2))
    assert (found.callers, found.instances, found.routers) == (3, 4, 2)


def test_a_router_that_would_serve_no_instance_is_refused() -> None:
    """It would keep a share of an engine that nobody asks for."""
    with pytest.raises(ValueError, match="2 router processes for 1 instance of the subject; expected no more routers"):
        layout(_HERE, Wanted(in_flight=10, routers=2))


def test_memory_grows_with_operations_and_with_processes() -> None:
    """Both count."""
    small, large = Wanted(in_flight=1_000), Wanted(in_flight=2_000)
    one, more = layout(_HERE, small), layout(_HERE, replace(small, callers=5))
    assert needed_bytes(small, one) < needed_bytes(large, one)
    assert needed_bytes(small, one) < needed_bytes(small, more)


def test_limits_that_are_none_are_refused() -> None:
    """A machine without a core was read wrongly."""
    with pytest.raises(ValueError, match="cores is 0"):
        replace(_HERE, cores=0)


def test_the_limits_of_this_machine_can_be_read() -> None:
    """In words that a person reads, too."""
    limits = limits_here()
    assert f"{limits.files:,} files a process" in limits.words()
    assert available_bytes("MemTotal: 9 kB\nMemAvailable:  2 kB\n") == 2048
    with pytest.raises(ValueError, match="expected a line MemAvailable"):
        available_bytes("MemTotal: 9 kB\n")
