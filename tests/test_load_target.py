"""Who can be under load, and how it is started for one."""

from pathlib import Path

import pytest

from fake_router.authority import write_authority
from fake_router.service import Engine, Held
from suites.given import Given
from suites.load.asked import Callers, Load
from suites.load.limits import Layout
from suites.load.target import (
    PATIENT_MS,
    NoTargetError,
    callers_of,
    loaded,
    loopback_of,
    orders,
    read_timeout_ms,
    target_named,
)
from suites.load.terms import Terms, is_terms
from suites.subject_file import built_in_file, built_in_names
from suites.subject_text import SubjectFile

_LAYOUT = Layout(routers=1, instances=2, callers=3, sources=2, connecting=16)


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("reference", "reference-server"),
        ("reference:safe", "reference-server"),
        ("reference:never", "reference-server:never"),
        ("nginx", "nginx"),
    ],
)
def test_the_reference_is_a_server_here(name: str, subject: str) -> None:
    """Whatever its policy; others are what they are."""
    assert target_named(name).spec.facts.name == subject


def test_what_is_called_in_its_own_process_cannot_be_under_load() -> None:
    """A client is no server."""
    with pytest.raises(NoTargetError, match="'undici' is no server of its own"):
        target_named("undici")


def _at(url: str, listen: str, *settings: str) -> SubjectFile:
    given = Given(listen=(listen,), speaks="openai-completions", promises="transparent", settings=settings)
    return target_named(url, given)


def test_a_url_may_speak_tls_to_its_callers_but_not_to_its_routers(tmp_path: Path) -> None:
    """Callers are told whom to believe; the routers of a load speak none."""
    write_authority(tmp_path / "ca.pem")
    file = _at("https://127.0.0.1:1", "127.0.0.1:2", f"ca_file={tmp_path}/ca.pem")
    told = orders(Load(in_flight=3, operations=3), _LAYOUT, file, [("127.0.0.1", 1)])
    assert {(order.tls, order.ca) for order in told} == {(True, (tmp_path / "ca.pem").read_text())}
    with pytest.raises(NoTargetError, match="speaks TLS to its routers; expected http:"):
        _at("http://127.0.0.1:1", "https://127.0.0.1:2", f"listen_ca={tmp_path}/ca.pem")


@pytest.mark.parametrize(
    ("url", "is_alone"),
    [
        ("http://127.0.0.1:1", True),
        ("http://localhost:1", True),
        ("http://[::1]:1", True),
        ("http://10.0.0.5:1", False),
    ],
)
def test_a_loopback_address_is_reached_from_its_own_machine_alone(url: str, is_alone: bool) -> None:
    """That of a subject which a load starts is one."""
    assert bool(loopback_of(_at(url, "127.0.0.1:2"))) is is_alone
    assert loopback_of(target_named("nginx")) == "nginx"


def test_callers_are_such_as_the_subject_speaks() -> None:
    """One that speaks tinker can be called plainly, too: the same server answers."""
    tinker, openai = target_named("reference"), target_named("nginx")
    assert callers_of(tinker, None) is Callers.SDK
    assert callers_of(tinker, Callers.PLAIN) is Callers.PLAIN
    assert callers_of(openai, None) is Callers.PLAIN
    with pytest.raises(NoTargetError, match="does not speak tinker"):
        callers_of(openai, Callers.SDK)


@pytest.mark.parametrize("name", [name for name in built_in_names() if built_in_file(name).load != Terms()])
def test_the_terms_of_every_built_in_subject_fit_its_files(name: str) -> None:
    """And the time that it waits for a silent router is in what it is started with."""
    file = loaded(built_in_file(name), 12_345)
    assert file.values["read_timeout_ms"] == "12345"
    texts = (*file.load.options, *file.files.values())
    assert any("{read_timeout_ms}" in text for text in texts)


def test_terms_that_fit_no_file_are_refused() -> None:
    """Its file was changed, and they were not."""
    with pytest.raises(ValueError, match=r"load\.replace has 'x'; expected a part of its files or values"):
        Terms(replace={"x": "y"}).replaced({"a": "b"}, {})


@pytest.mark.parametrize("value", [3, {"option": []}, {"options": [""]}, {"options": "x"}, {"replace": {"a": 1}}])
def test_what_are_no_terms(value: object) -> None:
    """A table of words and of texts."""
    assert not is_terms(value)


def test_operations_and_slots_are_dealt_out_among_caller_processes() -> None:
    """None is left out; each process has addresses of its own."""
    load = Load(in_flight=10, operations=20)
    file = target_named("nginx")
    made = orders(load, _LAYOUT, file, [("127.0.0.1", 1), ("127.0.0.1", 2)])
    assert [order.slots for order in made] == [4, 3, 3]
    assert sum(order.operations for order in made) == 20
    addresses = [source for order in made for source in order.sources]
    assert len(set(addresses)) == len(addresses) == 6
    assert orders(load, _LAYOUT, file, [("192.0.2.1", 1)])[0].sources == []


def test_a_subject_waits_for_ever_unless_faults_are_silent() -> None:
    """Then as long as the service may take, and some."""
    mix: dict[str, object] = {}
    assert read_timeout_ms(Load(in_flight=1, operations=1)) == PATIENT_MS
    assert read_timeout_ms(Load(in_flight=1, operations=1, mix=mix)) == 5_000
    assert read_timeout_ms(Load(in_flight=1, operations=1, mix=mix, service=Held())) == 120_000
    engine = Engine(capacity=2, seconds=3)
    assert read_timeout_ms(Load(in_flight=5, operations=5, mix=mix, service=engine)) == 23_000
