"""A forwarder in front of another one: what is known of both together, and what a finding says of them."""

from dataclasses import replace

import pytest

from faults.form import Api
from suites.chain import ChainSubject, chained
from suites.checks.at_most_once import CHECK
from suites.processes import Supervisor
from suites.registry import UnknownSubjectError, subject_named
from suites.run import Promise
from suites.subject import Isolation
from suites.subject_file import built_in_file
from tests.ledgers import OP, ok, opened, planned, run, served


def test_the_way_to_the_routers_is_the_seconds_and_what_callers_see_the_firsts() -> None:
    """A transparent first promises what the second does."""
    outer, inner = built_in_file("nginx").spec, built_in_file("litellm-proxy").spec
    spec = chained(outer, inner)
    assert (spec.facts.name, spec.facts.promises) == ("nginx+litellm-proxy", Promise.ANSWERING)
    assert (spec.upstreams, spec.read_timeout_ms, spec.isolation) == (1, inner.read_timeout_ms, Isolation.SHARED)
    assert spec.quiet_ms == (outer.quiet_ms or 0) + (inner.quiet_ms or 0)
    assert spec.apis == (Api.CHAT,)
    skyrl = chained(built_in_file("skyrl").spec, built_in_file("vllm-router:disable-circuit-breaker").spec)
    assert (skyrl.facts.promises, skyrl.apis, skyrl.isolation) == (
        Promise.FUTURES,
        (Api.COMPLETIONS,),
        Isolation.SHARED,
    )
    assert "streaming" in skyrl.reach


def test_it_is_named_by_both() -> None:
    """Each as it is named alone, variants too."""
    chain = subject_named("haproxy:retry-all+nginx", Supervisor())
    assert isinstance(chain, ChainSubject)
    assert chain.spec.facts.name == "haproxy:retry-all+nginx"


def test_its_callers_say_the_headers_of_both() -> None:
    """The key that the second wants comes from them."""
    chain = subject_named("nginx+litellm-proxy", Supervisor())
    assert isinstance(chain, ChainSubject)
    assert chain.outer.file.headers == built_in_file("litellm-proxy").headers


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nginx+openai", "B one that is called over HTTP"),
        ("reference+nginx", "two that are started here"),
        ("skyrl+sglang-router", "two that can be asked for the same"),
        ("nginx+ngin", "subject 'ngin' is not known"),
    ],
)
def test_what_is_no_chain_is_refused(name: str, message: str) -> None:
    """With what was expected."""
    with pytest.raises(UnknownSubjectError, match=message):
        subject_named(name, Supervisor())


def test_a_second_execution_says_how_the_layers_multiply() -> None:
    """How often the first sent it, and how often the second did."""
    twice = run(planned(), [opened(1), *served(1, execution=1), *served(2, execution=2)], ok())
    (finding,) = CHECK.judge(replace(twice, between={OP: 1}))
    assert f"2 times (1 sending from the first of {twice.subject.name} to the second, 2 from that)" in finding.says
    (finding,) = CHECK.judge(twice)
    assert "from the first" not in finding.says
