"""A health check that the engine does not make is made here, as the compose file says it."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from suites.stacks.errors import StackError
from suites.stacks.health import passes

if TYPE_CHECKING:
    from docker.models.containers import Container

PORT = "</dev/tcp/127.0.0.1/80"


def container(test: Any, exit_code: int = 0) -> tuple["Container", list[list[str]]]:
    """One with that test, in which every command ends so; and the commands."""
    ran: list[list[str]] = []

    def run(words: list[str]) -> SimpleNamespace:
        ran.append(words)
        return SimpleNamespace(exit_code=exit_code)

    attrs = {"Config": {} if test is None else {"Healthcheck": {"Test": test}}}
    return cast("Container", SimpleNamespace(attrs=attrs, exec_run=run)), ran


@pytest.mark.parametrize(
    ("test", "words"),
    [(["CMD", "bash", "-c", PORT], ["bash", "-c", PORT]), (["CMD-SHELL", PORT], ["sh", "-c", PORT])],
)
@pytest.mark.parametrize("exit_code", [0, 1])
def test_its_own_test_is_run_in_it(test: list[str], words: list[str], exit_code: int) -> None:
    """It passes by its exit code."""
    one, ran = container(test, exit_code)
    assert passes(one) is (exit_code == 0)
    assert ran == [words]


@pytest.mark.parametrize("test", [None, ["NONE"], []])
def test_who_has_none_passes(test: list[str] | None) -> None:
    """Nothing is run in it."""
    one, ran = container(test, 1)
    assert passes(one)
    assert ran == []


def test_a_test_of_another_kind_is_refused() -> None:
    """By what it is."""
    with pytest.raises(StackError, match=r"\['HTTP', '/'\]; expected CMD or CMD-SHELL"):
        passes(container(["HTTP", "/"])[0])
