"""The command and the pytest plugin say the same of a plan: they are two ways to one judgement."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from faults.plan import Plan, PlannedListener, PlannedOperation
from faults.plan_json import dump_plan
from faults.vocabulary import Leaving
from retryproof.__main__ import run
from retryproof.exits import Exit
from tests.command_process import Place, ended

OPERATION = PlannedOperation()
PLANS = {
    "healthy": Plan(operations=(OPERATION,)),
    "safe-refusal": Plan(operations=(PlannedOperation(faults=("503-no-workers",)),)),
    "done-and-reset": Plan(operations=(PlannedOperation(faults=("reset-after",)),)),
    "done-and-502": Plan(operations=(PlannedOperation(faults=("502-after",)),)),
    "garbage": Plan(operations=(PlannedOperation(faults=("html-200",)),)),
    "in-company": Plan(operations=(PlannedOperation(faults=("503-after",), gate="received:1"), OPERATION)),
    "never-met": Plan(
        upstreams=2, operations=(OPERATION,), listeners=(PlannedListener(fault="unread-reset", upstream=1),)
    ),
    "left": Plan(operations=(PlannedOperation(leaves=Leaving.FIN, gate="left:0"),)),
    "streamed": Plan(operations=(PlannedOperation(stream=True),)),
    "out-of-reach": Plan(operations=(PlannedOperation(segments=2),)),
    "too-many-upstreams": Plan(upstreams=9, operations=(OPERATION,)),
}
SUITE = """
from pathlib import Path
from xml.etree import ElementTree
import pytest
from faults.plan_json import load_plan
@pytest.mark.parametrize("path", sorted(Path().glob("*.json")), ids=lambda path: path.stem)
def test_plan(bench, path):
    bench.holds(load_plan(path.read_bytes()), "same")
"""
WORDS = {Exit.PASS: "PASSED", Exit.FAIL: "FAILED", Exit.UNKNOWN: "FAILED"}  # pytest fails what was not proved, too


@pytest.mark.parametrize(
    ("subject", "names"),
    [
        ("reference", tuple(PLANS)),
        ("reference:blanket-5xx", tuple(PLANS)),
        ("reference-server:blanket-5xx", ("left", "done-and-502", "streamed")),  # each of its runs costs two starts
    ],
)
def test_both_say_the_same_of_every_plan(
    tmp_path: Path, subject: str, names: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """PASS, FAIL, UNKNOWN, and what was not run, with the same reason."""
    place = Place(path=tmp_path)
    for name in names:
        (tmp_path / f"{name}.json").write_text(dump_plan(PLANS[name]))
    (tmp_path / "test_same.py").write_text(SUITE)
    by_pytest = pytest_says(place, subject)
    for name in names:
        code = run(["replay", str(tmp_path / f"{name}.json"), "--subject", subject])
        out, err = capsys.readouterr()
        word, says = by_pytest[name]
        if "cannot be run on" in err:
            assert (code, word) == (Exit.UNKNOWN, "SKIPPED")
            assert err == f"retryproof: {says.removeprefix('not_run: ')}\n"
        else:
            assert word == WORDS[code], name
            assert f"\n{code.name}\n" in out
            assert says.startswith(f"{code.name} on {subject}:") or word == "PASSED"
    words = {word for word, _ in by_pytest.values()}
    assert words == {"PASSED", "FAILED", "SKIPPED"}


def pytest_says(place: Place, subject: str) -> dict[str, tuple[str, str]]:
    """Of each plan: the word of its test, and what was said."""
    options = ("-p", "no:asyncio", "-p", "no:cacheprovider", "-q", "--tb=line", "--junitxml=junit.xml")
    command = (sys.executable, "-m", "pytest", *options, "--subject", subject, "test_same.py")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        command,
        cwd=place.path,
        env=place.environment(),
        text=True,
        **pipes,  # type: ignore[call-overload]
    ) as process:
        end = ended(process)
    assert end.code == 1, end.out + end.err
    return dict(_case(case) for case in ElementTree.parse(place.path / "junit.xml").iter("testcase"))


def _case(case: ElementTree.Element) -> tuple[str, tuple[str, str]]:
    name = case.attrib["name"].removeprefix("test_plan[").removesuffix("]")
    for tag, word in (("failure", "FAILED"), ("skipped", "SKIPPED"), ("error", "ERROR")):
        if (found := case.find(tag)) is not None:
            return name, (word, found.attrib["message"].partition("BrokenMustError: ")[2] or found.attrib["message"])
    return name, ("PASSED", "")
