"""A forwarder in front of another one: what is known of both together, and what a finding says of them."""

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from faults.form import Api
from retryproof.configuration import configuration_of
from suites.chain import ChainInstance, ChainSubject, chained
from suites.checks.at_most_once import CHECK
from suites.foreign import ForeignInstance
from suites.processes import Supervisor
from suites.registry import UnknownSubjectError, parts_of, subject_named
from suites.run import Promise
from suites.subject import Isolation
from suites.subject_file import BUILT_IN, built_in_file
from suites.subject_reader import SubjectFileError
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


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("nginx", None),
        ("nginx:retry-non-idempotent+haproxy:redispatch", ("nginx:retry-non-idempotent", "haproxy:redispatch")),
        ("a.toml+b.toml", ("a.toml", "b.toml")),
        ("a.toml:fast+nginx", ("a.toml:fast", "nginx")),
        ("nginx+a.toml:fast", ("nginx", "a.toml:fast")),
        ("c+d/e.toml", None),
        ("c+d/e.toml:fast", None),
        ("c+d/e.toml+nginx", ("c+d/e.toml", "nginx")),
        ("a.toml+c+d/e.toml", ("a.toml", "c+d/e.toml")),
        ("nginx+gone.toml", ("nginx", "gone.toml")),
        ("gone.toml+nginx", ("gone.toml", "nginx")),
        ("c+d/gone.toml", None),
        ("nginx+", None),
    ],
)
def test_its_name_is_taken_apart(
    name: str, parts: tuple[str, str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names and files, with variants; a file whose path has a plus in it is one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c+d").mkdir()
    for path in ("a.toml", "b.toml", "c+d/e.toml"):
        (tmp_path / path).touch()
    assert parts_of(name) == parts


def test_a_file_may_be_either_of_them(tmp_path: Path) -> None:
    """And one that is not there is named, not both."""
    (tmp_path / "mine.toml").write_bytes((BUILT_IN / "nginx.toml").read_bytes())
    for name in (f"haproxy+{tmp_path}/mine.toml", f"{tmp_path}/mine.toml:retry-non-idempotent+haproxy"):
        chain = subject_named(name, Supervisor())
        assert isinstance(chain, ChainSubject)
        assert chain.spec.facts.name.count("nginx") == 1
        assert configuration_of(name).kind == "chains"
    with pytest.raises(SubjectFileError, match=r"^gone\.toml: No such file"):
        subject_named("haproxy+gone.toml", Supervisor())


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


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (None, None, None),
        ("exited with code 7", None, "a exited with code 7"),
        (None, "was killed by SIGKILL", "b was killed by SIGKILL"),
        ("exited with code 7", "exited with code 8", "a exited with code 7 and b exited with code 8"),
    ],
)
def test_which_of_them_died_is_said(first: str | None, second: str | None, said: str | None) -> None:
    """Each by its name."""
    one, other = (cast(ForeignInstance, SimpleNamespace(died=lambda how=how: how)) for how in (first, second))
    assert ChainInstance(one, other, ("a", "b"), (), AsyncExitStack()).died() == said


def test_a_second_execution_says_how_the_layers_multiply() -> None:
    """How often the first sent it, and how often the second did."""
    twice = run(planned(), [opened(1), *served(1, execution=1), *served(2, execution=2)], ok())
    (finding,) = CHECK.judge(replace(twice, between={OP: 1}))
    assert f"2 times (1 sending from the first of {twice.subject.name} to the second, 2 from that)" in finding.says
    (finding,) = CHECK.judge(twice)
    assert "from the first" not in finding.says
