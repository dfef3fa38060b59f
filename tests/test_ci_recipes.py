"""What docs/ci.md gives to paste is whole: it can be read, and its commands are commands of today."""

import configparser
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from retryproof.dispatch import command_named
from signoff.published import load_published
from signoff.report import load_report
from suites.subject_file import built_in_file

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "ci.md").read_text()
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())


def blocks(language: str) -> list[str]:
    """The recipes in that language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def texts(data: Any) -> Iterator[str]:
    """Every text in a document, however deep, but for names that are shown to people."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from texts(value) if key != "name" else ()
    elif isinstance(data, list):
        for value in data:
            yield from texts(value)
    elif isinstance(data, str):
        yield data


def commands() -> list[str]:
    """Each command of retryproof on the page and in the hook, with no variable left in it."""
    lines = [
        line for recipe in map(yaml.safe_load, blocks("yaml")) for text in texts(recipe) for line in text.splitlines()
    ]
    lines += [line.strip() for block in blocks("ini") + blocks("sh") for line in block.splitlines()]
    lines += [text for text in re.findall(r"`([^`\n]+)`", PAGE) if ":" in text or ".toml" in text]
    lines += [shlex.join((*shlex.split(hook["entry"]), *hook["args"])) for hook in HOOKS]
    return sorted({line for line in lines if line.startswith("retryproof ")})


@pytest.mark.parametrize("typed", commands())
def test_every_command_is_one_of_today(typed: str) -> None:
    """Its options and its subjects are what the command takes."""
    _, name, *rest = shlex.split(typed)
    parsed = command_named(name).parser().parse_intermixed_args(rest)
    assert len(parsed.subjects) == {"signoff": 2, "check": 1}[name]


def test_there_is_a_recipe_for_each() -> None:
    """Of tox, GitHub, GitLab and pre-commit, and what proves a change is in the first three."""
    assert [len(blocks(language)) for language in ("ini", "yaml")] == [1, 4]
    tox = configparser.ConfigParser(interpolation=None)
    tox.read_string(*blocks("ini"))
    github, gitlab, *pre_commit = map(yaml.safe_load, blocks("yaml"))
    proposed = (
        tox["testenv:retryproof"]["commands"],
        *(step["run"] for step in github["jobs"]["signoff"]["steps"] if "retryproof signoff" in step.get("run", "")),
        *gitlab["retry-policy:signoff"]["script"],
    )
    assert [f"{text}".count("retryproof signoff ") for text in proposed] == [1, 1, 1]
    assert [hook["id"] for recipe in pre_commit for repo in recipe["repos"] for hook in repo["hooks"]] == [
        HOOKS[0]["id"],
        HOOKS[0]["id"],
    ]


def test_a_base_is_fetched_before_it_is_signed_off() -> None:
    """CI systems fetch one commit unless they are told otherwise."""
    github, gitlab, *_ = map(yaml.safe_load, blocks("yaml"))
    assert github["jobs"]["signoff"]["steps"][0]["with"]["fetch-depth"] == 0
    assert gitlab["retry-policy:signoff"]["variables"]["GIT_DEPTH"] == "0"


def test_what_a_change_proposes_never_becomes_part_of_a_script() -> None:
    """An expression of GitHub is put into an environment, where the shell does not read it as words of its own."""
    github = yaml.safe_load(blocks("yaml")[0])
    scripts = [step["run"] for job in github["jobs"].values() for step in job["steps"] if "run" in step]
    assert [script for script in scripts if "${{" in script] == []


def test_the_hook_is_whole() -> None:
    """What pre-commit demands of one, and it is given no names of files: the subject is the same whichever changed."""
    (hook,) = HOOKS
    assert {"id", "name", "entry", "language"} <= hook.keys()
    assert (hook["language"], hook["pass_filenames"], hook["require_serial"]) == ("python", False, True)
    assert not (ROOT / hook["args"][0]).exists()


def test_the_reference_is_signed_off_against_a_whole_report() -> None:
    """The one that tox names; it holds every must, in cells of which none is missing."""
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini")
    (named,) = re.findall(r"--base (\S+)", tox["testenv:signoff"]["commands"])
    report = load_report(Path(named.replace("{tox_root}", f"{ROOT}")))
    assert (report.subject.name, report.verdict, report.depth, report.partial) == ("reference", "PASS", "core", "")
    assert {cell.verdict for cell in report.cells} == {"PASS"}
    assert "{[testenv:signoff]commands}" in tox["testenv:once"]["commands"]  # which CI runs: tests/test_environments.py


def test_what_ci_compares_is_published_and_installed_in_that_version() -> None:
    """What it installs is what the subject's file says; each that it names has a result."""
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini")
    survey = tox["testenv:survey"]
    (pin,) = re.findall(r"install -q (\S+)$", survey["commands_pre"], re.MULTILINE)
    assert built_in_file("urllib3").install.endswith(f" {pin}")
    names = shlex.split(survey["commands"].partition(" --compare")[0])[2:]
    assert set(names) <= {load_published(path).subject for path in (ROOT / "results").glob("*.json")}
    assert "{[testenv:survey]commands}" in tox["testenv:once"]["commands"]
