"""What of a subject goes to another machine, what must be there, and what cannot be examined elsewhere."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from retryproof import where
from retryproof.edition import edition
from retryproof.exits import CommandError, Exit
from retryproof.on_node import Held
from retryproof.sessions import Session
from retryproof.travelling import Expected, travelling
from suites.given import NOTHING_GIVEN, Given
from suites.reach import Machine
from suites.reference import reference_subject
from suites.subject_file import load_subject_file

FILE = """\
name = "mine"
command = ["{python}", "{here}/bin/forward.py", "{port}"]
speaks = "openai-completions"
promises = "transparent"
connect_timeout_ms = 300
read_timeout_ms = 300
quiet_ms = 400
[variants.next]
read_timeout_ms = 600
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A subject file whose command names what lies beside it."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "forward.py").write_text("forward()")
    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    return path


@pytest.mark.parametrize("name", ["reference:never", "nginx:retry-non-idempotent", "httpx+nginx"])
def test_what_comes_with_us_goes_by_its_name(name: str, tmp_path: Path) -> None:
    """The other machine has the same edition."""
    assert travelling(name, NOTHING_GIVEN).unpacked(tmp_path) == name
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("variant", ["", ":next"])
def test_a_subject_file_goes_along_with_what_its_command_names(mine: Path, tmp_path: Path, variant: str) -> None:
    """Its copy says the same, also where the file that it was made of is gone."""
    packed = travelling(f"{mine}{variant}", NOTHING_GIVEN)
    mine.unlink()
    name = packed.unpacked(tmp_path / "there")
    path, _, found = name.partition(":")
    assert (found, Path(path).parent) == (variant.removeprefix(":"), tmp_path / "there")
    file = load_subject_file(Path(path), found or None)
    assert file.spec.read_timeout_ms == (600 if variant else 300)
    assert (file.here / "bin" / "forward.py").read_text() == "forward()"


@pytest.mark.parametrize("typed", ["./mine.toml", "bin/../mine.toml:next", "./mine.toml+nginx"])
def test_a_subject_file_goes_along_however_its_path_was_typed(
    typed: str, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From wherever the other machine looks for it, also as a part of a chain."""
    monkeypatch.chdir(mine.parent)
    outer, _, inner = travelling(typed, NOTHING_GIVEN).unpacked(tmp_path / "there").partition("+")
    path, _, variant = outer.partition(":")
    assert Path(path).is_relative_to(tmp_path / "there")
    assert load_subject_file(Path(path), variant or None).spec.read_timeout_ms == (600 if variant else 300)
    assert (variant, inner) == (typed.partition(":")[2], typed.partition("+")[2])


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("bin/forward.py", "bin/nothing.py"),
        ("bin/forward.py", "../mine.toml"),
        ("{here}/bin/forward.py", "--config={here}/bin/forward.py"),
        ("[variants.next]", '[files]\n"a.conf" = "include {here}/b.conf"\n[variants.next]'),
    ],
)
def test_a_subject_file_that_needs_more_of_its_folder_is_refused(mine: Path, was: str, becomes: str) -> None:
    """Exit code 2, with what would go along."""
    mine.write_text(FILE.replace(was, becomes))
    with pytest.raises(CommandError, match=r"names the folder \{here\}.*expected \{here\}/FILE as a word") as error:
        travelling(str(mine), NOTHING_GIVEN)
    assert error.value.code is Exit.USAGE


def test_what_is_of_this_machine_is_refused() -> None:
    """What runs already, since its routers must be where it looks for them, and what Compose brings up."""
    url = Given(listen=("127.0.0.1:1",), speaks="openai-completions", promises="transparent")
    with pytest.raises(CommandError, match="it runs already, and its routers are at addresses of this machine"):
        travelling("http://127.0.0.1:2", url)
    stack = str(Path(__file__).parents[1] / "compose" / "nginx" / "compose.yaml")
    with pytest.raises(CommandError, match="what Docker Compose brings up is of this machine"):
        travelling(stack, NOTHING_GIVEN)


def test_a_node_with_another_retryproof_lives_through_nothing() -> None:
    """It says which both are, and starts no process."""
    ((kind, says),) = Held().live("0.0.9 (abc)", b"")
    assert (kind, says) == (
        "refused",
        f"retryproof is {edition()}, but 0.0.9 (abc) where the command runs; expected the same",
    )


def test_a_unit_that_was_stopped_before_it_began_never_does() -> None:
    """An order overtakes the request on a cluster that is busy."""
    held = Held()
    held.stop()
    assert list(held.live(edition(), b"")) == [("ended", "was stopped before it began")]


async def test_what_differs_on_another_machine_is_said() -> None:
    """The version of the subject, and what can be done there; its own machine is as it is."""
    here = cast(Session, SimpleNamespace(subject=reference_subject(None, "1.2"), machine=Machine(packets=True)))
    expected = await Expected.of(here)
    await expected.require(here)
    for other, says in (
        (replace(expected, version="1.3"), "the version of the subject is 1.2, but 1.3 where the command runs"),
        (
            replace(expected, machine=Machine(packets=False)),
            "this machine is one with packet sockets, but one with not",
        ),
    ):
        with pytest.raises(CommandError, match=says) as error:
            await other.require(here)
        assert error.value.code is Exit.COULD_NOT_RUN


def test_without_ray_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 4, since a component is missing."""
    monkeypatch.setattr(where, "find_spec", lambda _: None)
    with pytest.raises(CommandError, match=r"not installed; install it: pip install 'retryproof\[ray\]'") as error:
        where.require_ray()
    assert error.value.code is Exit.COULD_NOT_RUN
