"""What a command line says of a URL becomes the same subject as the keys of a file would, or one message."""

from pathlib import Path

import pytest

from faults.evidence import Marker
from faults.form import Api
from suites.given import Given, assumed, url_subject
from suites.subject_reader import SubjectFileError

URL = "http://127.0.0.1:8000"
TLS_LISTEN = "https://127.0.0.1:9000"
LISTEN = ("127.0.0.1:9000", "127.0.0.1:9001")


def given(*settings: str, listen: tuple[str, ...] = LISTEN, promises: str | None = "transparent") -> Given:
    return Given(listen=listen, speaks="openai-completions", promises=promises, settings=settings)


def test_every_setting_reaches_the_subject(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers, texts, lists and tables, as a person writes them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "body.json").write_text('{"model": "{model}", "prompt": {prompt_tokens}}')
    file = url_subject(
        URL,
        given(
            "name=mine",
            "read_timeout_ms=2000",
            "idle=/idle",
            "attempts=3",
            "headers.Authorization=Bearer 5",
            "headers.X-Number=5",
            "reach.reused=it keeps no connection",
            "probes=/ready,/live",
            "body=body.json",
            'says.not_executed=[{status = 502, body = "not sent"}]',
            'contract.not_accepted=[{status = 503, body = "full"}]',
        ),
    )
    spec = file.spec
    assert (spec.facts.name, spec.read_timeout_ms, spec.quiet_ms, spec.facts.attempts) == ("mine", 2000, None, 3)
    assert spec.listen == (("127.0.0.1", 9000), ("127.0.0.1", 9001))
    assert (spec.upstreams, spec.standing, spec.probes) == (2, True, ["/ready", "/live"])
    template = "its body is a template, which is the same for every operation"
    longer = "its body is a template, which cannot be made longer"
    assert spec.reach == {"reused": "it keeps no connection", "streaming": template, "body_bytes": longer}
    assert spec.apis == (Api.COMPLETIONS,)
    assert spec.facts.contract.not_accepted == (Marker(status=503, body="full"),)
    assert (file.url, file.idle, file.not_executed) == (URL, "/idle", (Marker(status=502, body="not sent"),))
    assert file.headers == {"Authorization": "Bearer 5", "X-Number": "5"}
    assert file.body == (tmp_path / "body.json").read_text()


def test_what_is_taken_for_granted_can_be_said() -> None:
    """So that a person sees which time-outs the faults are placed around."""
    assert assumed(given()) == "connect_timeout_ms=300 read_timeout_ms=300 quiet_ms=1000"
    assert assumed(given("read_timeout_ms=5", "idle=/idle")) == "connect_timeout_ms=300"


def test_its_words_say_the_same_again() -> None:
    """For a command that replays."""
    words = given("a=b c", listen=LISTEN[:1]).words()
    assert words == [
        *("--listen", LISTEN[0], "--speaks", "openai-completions"),
        *("--promises", "transparent", "--set", "a=b c"),
    ]


@pytest.mark.parametrize(
    ("url", "options", "message"),
    [
        ("ftp://h", given(), r"subject 'ftp://h'; expected http://HOST:PORT"),
        ("http://", given(), "expected http://HOST:PORT"),
        ("http://u:p@h", given(), "expected http://HOST:PORT"),
        ("http://h:0", given(), "expected http://HOST:PORT"),
        ("http://h:99999", given(), "expected http://HOST:PORT"),
        ("http://h/#x", given(), "expected http://HOST:PORT"),
        (URL, given(listen=()), "--listen is missing; expected .* e.g. --listen 127.0.0.1:9000"),
        (URL, Given(listen=LISTEN, promises="transparent"), "--speaks is missing; expected one of 'openai-compl"),
        (URL, given(promises=None), "--promises is missing; expected one of 'transparent'"),
        (URL, given(promises="all"), "promises is 'all'; expected one of"),
        (URL, given(listen=("9000",)), r"listen is \['9000'\]; expected a list of HOST:PORT"),
        (URL, given(listen=("h:0",)), "expected a list of HOST:PORT"),
        (URL, given(listen=("h:1", "i:2")), "expected different ports of one host"),
        (URL, given(listen=("h:1", "h:1")), "expected different ports of one host"),
        (URL, given(listen=("https://h:1", "h:2")), "expected different ports of one host, all of them over TLS"),
        (URL, given(listen=("ftp://h:1",)), "expected a list of HOST:PORT"),
        (URL, given(listen=(TLS_LISTEN,)), "expected either `listen_ca` or `listen_cert` beside https://"),
        (URL, given("listen_ca=a", "listen_cert=b", listen=(TLS_LISTEN,)), "either `listen_ca` or `listen_cert`"),
        (URL, given("listen_ca=a"), "listen_ca is 'a'; expected it only where `listen` says https://"),
        (URL, given("listen_names=[]"), r"listen_names is \[\]; expected a list of names"),
        (
            URL,
            given("listen_ca=nowhere.pem", listen=(TLS_LISTEN,)),
            r"listen_ca is 'nowhere.pem'; expected a CA as `retryproof ca nowhere.pem` makes it, with its key in "
            "nowhere.pem.key .*No such file",
        ),
        (
            URL,
            given("listen_cert=nowhere.pem", listen=(TLS_LISTEN,)),
            "listen_cert is 'nowhere.pem'; expected a file in PEM with a certificate.*No such file",
        ),
        (
            URL,
            given("listen_cert=a", 'listen_names=["b"]', listen=(TLS_LISTEN,)),
            "listen_names is .*expected it beside `listen_ca` alone",
        ),
        ("http://h:1", given(listen=("h:1",)), r"expected other addresses than the forwarder's own \(h:1\)"),
        (URL, given("quiet_ms"), "--set 'quiet_ms'; expected quiet_ms=VALUE, milliseconds"),
        (URL, given("quite_ms=3"), "--set 'quite_ms=3': there is no key 'quite_ms'; .*; did you mean 'quiet_ms'"),
        (URL, given("zzz"), "--set 'zzz': there is no key 'zzz'; expected one of name, "),
        (URL, given("headers.=3"), "--set 'headers.=3'; expected headers.NAME=VALUE, a table of header name"),
        (URL, given("probes.x=3"), "--set 'probes.x=3'; expected probes=VALUE, a list of paths"),
        (URL, given("headers=3", "headers.x=3"), "--set 'headers.x=3' beside headers=3; expected one of them"),
        (
            URL,
            given("quiet_ms=3", "quiet_ms=4"),
            "--set 'quiet_ms=3', and 'quiet_ms' once more; expected each key once",
        ),
        (URL, given("quiet_ms=3\nname=4"), "quiet_ms is '3.*; expected milliseconds"),
        (URL, given(f"says={'[' * 10_000}"), "says is .*; expected a table"),
        ("http://a..b:1", given(), "expected http://HOST:PORT"),
        (URL, given(listen=(f"{'x' * 300}:1",)), "expected a list of HOST:PORT"),
        (URL, given("listen=x"), "--set 'listen=x'; expected --listen instead"),
        (URL, given("url=x"), "expected the URL itself instead"),
        (URL, given("quiet_ms=soon"), "quiet_ms is 'soon'; expected milliseconds"),
        (URL, given("headers.a b=3"), "headers is .*; expected a table of header name = text"),
        (URL, given("reach.reset-befor=x"), "reach is .*fault id or dimension"),
        (URL, given("probes=ready"), "probes is 'ready'; expected a list of paths"),
        (URL, given("command=x"), "--set 'command=x': 'command' is of a subject that we start; expected one of name"),
        (URL, given("isolation=fresh"), "'isolation' is of a subject that we start"),
        (URL, given("body=nowhere.json"), "body is 'nowhere.json'; expected the path of a template, or its text"),
        (URL, given('body={"prompt": 3}'), r"body is .*expected JSON with \{prompt_tokens\}"),
        (URL, given('body={"prompt": {prompt_text}}'), r"body is .*\(Expecting value.*expected JSON with"),
        (URL, given("ca_file=nowhere.pem"), "ca_file is 'nowhere.pem'; expected a file with certificates in PEM"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_was_expected(url: str, options: Given, message: str) -> None:
    """In the words of the options."""
    with pytest.raises(SubjectFileError, match=message):
        url_subject(url, options)
