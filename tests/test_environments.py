"""What tox runs by itself, and so CI: nothing that has an environment is left out of it."""

import configparser
import re
from pathlib import Path

import pytest

INI = configparser.ConfigParser(interpolation=None)
INI.read(Path(__file__).parent.parent / "tox.ini")
LISTED = INI["tox"]["env_list"].split(", ")
OWN = [name.removeprefix("testenv:") for name in INI.sections() if name.startswith("testenv:")]
INTERPRETERS = [name for name in LISTED if re.fullmatch(r"py3\d+", name)]


def run_in(name: str) -> list[str]:
    """The command lines of that environment."""
    section = INI[f"testenv:{name}"] if name in OWN else INI["testenv"]
    return [line.strip() for line in section["commands"].splitlines() if line.strip() and line.strip()[0] != "#"]


@pytest.mark.parametrize("name", OWN)
def test_every_environment_is_run_by_itself_or_as_part_of_one_that_is(name: str) -> None:
    """What it does before its commands included."""
    if name in LISTED:
        return
    (whole,) = (other for other in LISTED if f"{{[testenv:{name}]commands}}" in run_in(other))
    before = {env: INI[f"testenv:{env}"].get("commands_pre", "") for env in (name, whole)}
    assert before[name] == "" or before[whole] == f"{{[testenv:{name}]commands_pre}}"
    settings = {env: set(INI[f"testenv:{env}"].get("set_env", "").split("\n")) for env in (name, whole)}
    assert settings[name] <= settings[whole]


def test_what_an_interpreter_leaves_out_is_run_elsewhere() -> None:
    """By another interpreter, or once in an environment that asks for it."""
    lines = run_in(INTERPRETERS[0])
    left_out = {
        name: set(re.findall(r"not (\w+)", line)) for line in lines for name in INTERPRETERS if _is_of(name, line)
    }
    assert set(left_out) == set(INTERPRETERS)
    everywhere = set.intersection(*left_out.values())
    asked_for = {mark for name in OWN for line in run_in(name) for mark in re.findall(r"pytest -m (\w+)", line)}
    assert everywhere
    assert everywhere <= asked_for


def _is_of(name: str, line: str) -> bool:
    """It is the line of the instrument's tests, and that environment runs it."""
    factor = line.partition(":")[0]
    return "pytest -n" in line and "-m" in line and (factor == name or (factor[0] == "!" and factor[1:] != name))
