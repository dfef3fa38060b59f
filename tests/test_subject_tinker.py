"""A subject that speaks the Tinker protocol: its keys, in a file and on a command line."""

from pathlib import Path

import pytest

from faults.evidence import Marker
from faults.form import Api
from suites.callable_path import load_callable
from suites.given import Given, url_subject
from suites.run import Promise
from suites.speech import PROTOCOLS, Speech
from suites.subject_file import built_in_file, load_subject_file
from suites.subject_reader import SubjectFileError
from tests.test_subject_file import LEAST, written

TINKER = LEAST.replace("openai-completions", "tinker").replace("transparent", "futures")


def test_a_subject_may_speak_tinker_and_what_that_cannot_ask_has_its_reason(tmp_path: Path) -> None:
    """A reason of its own stands in place of the usual one; a future that has failed says so with a 200."""
    said = """
    [reach]
    segments = "ours"
    [says]
    not_executed = [{ status = 200, body = "no" }]
    """
    file = load_subject_file(written(tmp_path, TINKER + said))
    assert (file.speech, file.spec.apis, file.spec.facts.promises) == (
        Speech.TINKER,
        (Api.COMPLETIONS,),
        Promise.FUTURES,
    )
    assert file.spec.reach == {**PROTOCOLS[Speech.TINKER].unasked, "segments": "ours"}
    assert file.not_executed == (Marker(status=200, body="no"),)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("body = '{\"a\": {prompt_tokens}}'", r"body is .*; expected no such key where it speaks 'tinker'"),
        ("passes_expect = true", r"passes_expect is True; expected no such key"),
        ('says = { not_executed = [{ status = 199, body = "x" }] }', "'status': 199.*200 to 599"),
        ('contract = { not_accepted = [{ status = 200, body = "x" }] }', "'status': 200.*300 to 599"),
    ],
)
def test_what_does_not_go_with_tinker_is_refused(tmp_path: Path, change: str, message: str) -> None:
    """Key, value and expectation, as ever."""
    with pytest.raises(SubjectFileError, match=message):
        load_subject_file(written(tmp_path, f"{TINKER}{change}\n"))


def test_the_reference_server_is_asked_in_either_protocol() -> None:
    """As a variant of the same file."""
    tinker, openai = built_in_file("reference-server"), built_in_file("reference-server:openai")
    assert (tinker.speech, openai.speech) == (Speech.TINKER, Speech.OPENAI)
    assert (openai.command, openai.spec.facts.promises) == (tinker.command, Promise.ANSWERING)
    assert set(openai.spec.apis) == set(Api)
    assert openai.spec.reach == {}


def test_a_url_may_speak_tinker_under_a_path() -> None:
    """The server's own paths come behind it."""
    given = Given(listen=("127.0.0.1:9000",), speaks="tinker", promises="futures", settings=("idle=/healthz",))
    file = url_subject("http://127.0.0.1:8000/prefix", given)
    assert (file.speech, file.spec.apis) == (Speech.TINKER, (Api.COMPLETIONS,))


def test_a_call_in_python_cannot_speak_tinker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It returns once: there is nothing to poll."""
    (tmp_path / "polled.py").write_text("RETRYPROOF = {'speaks': 'tinker'}\nasync def call(request, urls): ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(SubjectFileError, match="polled:call: speaks is 'tinker'; expected what a call can be asked in"):
        load_callable("polled:call")
