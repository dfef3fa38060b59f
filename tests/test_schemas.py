"""The JSON Schemas in docs/ are those of the types, and what is written fits them; versions are told apart."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from retryproof.exits import CommandError
from retryproof.given_report import load_given_report
from signoff.report import MINOR, Report, ReportError, Step, dump_report, load_report
from signoff.schemas import KINDS, schema_of, schema_text
from signoff.sign_off import SignOff, dump_sign_off, load_sign_off
from signoff.signing_off import sign_off_of
from tests.literal_reports import RETRIED, broken, cell, literal_report

DOCS = Path(__file__).parent.parent / "docs"
STEP = Step(3, "forwarder", "upstream 0", "operation 1, sending 1", "", (4, 5))
REPORT = literal_report(cell(diagram=(STEP,)), cell(id="b", attempts=None, status=None, verdict="not_run", reason="no"))


def signed_off() -> SignOff:
    """One in which a cell regresses."""
    paths = ("base/report.json", "candidate/report.json")
    candidate = literal_report(broken(RETRIED))
    return sign_off_of(REPORT, candidate, paths=paths, strict=False, today=dt.date(2026, 11, 30))


def fits(kind: type[msgspec.Struct], data: Any) -> None:
    """Raises jsonschema.ValidationError."""
    jsonschema.Draft202012Validator(schema_of(kind)).validate(data)


@pytest.mark.parametrize("name", KINDS)
def test_the_schema_in_the_documents_is_that_of_the_type(name: str) -> None:
    """`python -m signoff.schemas` writes both; each is a schema."""
    assert (DOCS / name).read_text() == schema_text(KINDS[name])
    jsonschema.Draft202012Validator.check_schema(schema_of(KINDS[name]))


def test_what_is_written_fits_its_schema() -> None:
    fits(Report, json.loads(dump_report(REPORT)))
    fits(SignOff, json.loads(dump_sign_off(signed_off())))


@pytest.mark.parametrize(
    ("key", "value"), [("schema", 2), ("verdict", "MAYBE"), ("cells", {}), ("seed", "0"), ("work", {})]
)
def test_what_is_no_report_does_not_fit(key: str, value: object) -> None:
    data = {**json.loads(dump_report(REPORT)), key: value}
    with pytest.raises(jsonschema.ValidationError):
        fits(Report, data)


def test_a_sign_off_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "signoff.json"
    path.write_bytes(dump_sign_off(signed_off()))
    assert load_sign_off(path) == signed_off()
    with pytest.raises(ReportError, match=r"report.json' is no SignOff"):
        load_sign_off(written(tmp_path))


def written(folder: Path, **changes: object) -> Path:
    """A report with these keys."""
    path = folder / "report.json"
    path.write_text(json.dumps({**json.loads(dump_report(REPORT)), **changes}))
    return path


def test_a_newer_minor_version_is_read(tmp_path: Path) -> None:
    """Keys that are not known are passed over, wherever they are; it still fits the schema."""
    data = json.loads(dump_report(REPORT))
    data["cells"][0] |= {"later": [1]}
    data["cells"][0]["diagram"][0].append("later")
    report = load_report(written(tmp_path, minor=MINOR + 1, cells=data["cells"], later={"a": 1}))
    assert report.cells == REPORT.cells
    fits(Report, json.loads((tmp_path / "report.json").read_text()))


def test_a_newer_schema_is_refused_as_such(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"has schema 2; .* reads 1: it is from a newer version$"):
        load_report(written(tmp_path, schema=2, cells="otherwise"))


def test_what_a_newer_minor_version_says_otherwise_is_refused_with_its_version(tmp_path: Path) -> None:
    """A word that is not known cannot be passed over."""
    with pytest.raises(ReportError, match=rf"MAYBE.*schema 1.{MINOR + 1}, newer than 1.{MINOR}"):
        load_report(written(tmp_path, minor=MINOR + 1, verdict="MAYBE"))


@pytest.mark.parametrize(
    ("ids", "says"),
    [
        (("a", "b", "a"), "has 2 cells 'a'; expected each once"),
        (("a\0b",), "has a cell 'a\\x00b'; expected a printable name of at most 200 bytes"),
        (("",), "has a cell ''; expected a printable name"),
        (("x" * 201,), "expected a printable name of at most 200 bytes"),
    ],
)
def test_a_cell_that_has_no_name_of_its_own_is_refused(ids: tuple[str, ...], says: str, tmp_path: Path) -> None:
    """One of two that are called alike would be compared, and the other hidden; and a file is called so."""
    report = literal_report(*(cell(id=id_) for id_ in ids))
    (tmp_path / "report.json").write_bytes(dump_report(report))
    with pytest.raises(ReportError, match=r"report\.json") as caught:
        load_report(tmp_path / "report.json")
    assert says in str(caught.value)


def test_a_cell_of_neither_side_is_refused(tmp_path: Path) -> None:
    sign_off = signed_off()
    (one, *_) = sign_off.cells
    odd = msgspec.structs.replace(sign_off, cells=(msgspec.structs.replace(one, base=None, candidate=None),))
    (tmp_path / "signoff.json").write_bytes(dump_sign_off(odd))
    with pytest.raises(ReportError, match="of neither side"):
        load_sign_off(tmp_path / "signoff.json")


def test_a_sign_off_that_is_given_for_a_report_is_told_where_its_reports_are(tmp_path: Path) -> None:
    (tmp_path / "signoff.json").write_bytes(dump_sign_off(signed_off()))
    for side in ("base", "candidate"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "report.json").write_bytes(dump_report(REPORT))
    with pytest.raises(
        CommandError, match=r"a sign-off holds two: '.*/base/report.json' and '.*/candidate/report.json'"
    ):
        load_given_report("--base", tmp_path / "signoff.json")
