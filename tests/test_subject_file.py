"""A subject file becomes a subject, or one message with file, key, value and what was expected."""

import re
import sys
from pathlib import Path

import pytest

from faults.evidence import Contract, Marker
from faults.form import Api
from suites.placeholders import PlaceholderError, fill_command, fill_file, meanings
from suites.run import Promise, SubjectFacts
from suites.subject import Isolation, SubjectSpec
from suites.subject_file import built_in_file, built_in_names, load_subject_file
from suites.subject_reader import SubjectFileError
from suites.subject_text import SubjectFile

LEAST = """
name = "mine"
command = ["mine"]
speaks = "openai-completions"
promises = "transparent"
connect_timeout_ms = 100
read_timeout_ms = 200
quiet_ms = 300
"""
FULL = (
    LEAST.replace("transparent", "answering").replace('"openai-completions"', '["openai-chat", "openai-completions"]')
    + """
version = ["mine", "--version"]
install = "pip install mine"
upstreams = 2
ready = "/health"
isolation = "shared"
attempts = 3
start_ms = 4000
[reach]
reused = "it closes every connection"
segments = false
streaming = true
[says]
not_executed = [{ status = 502, body = "not sent" }]
[contract]
not_accepted = [{ status = 503, body = "No available workers" }, { status = 429, body = "queue full" }]
[values]
retries = "1"
[files]
"conf/mine.conf" = "listen {port}; up {upstreams[1]}; retries {retries}; { {left alone} }"
[variants.bold]
attempts = 5
values = { retries = "9" }
[variants.renamed]
name = "another"
"""
)


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, "utf-8")
    return path


def test_the_least_file_has_the_documented_defaults(tmp_path: Path) -> None:
    facts = SubjectFacts(name="mine", promises=Promise.TRANSPARENT)
    assert load_subject_file(written(tmp_path, LEAST)) == SubjectFile(
        spec=SubjectSpec(
            facts=facts, connect_timeout_ms=100, read_timeout_ms=200, quiet_ms=300, apis=(Api.COMPLETIONS,)
        ),
        command=("mine",),
        here=tmp_path,
        values={},
        files={},
    )


def test_every_key_reaches_the_subject(tmp_path: Path) -> None:
    not_accepted = (Marker(status=503, body="No available workers"), Marker(status=429, body="queue full"))
    contract = Contract(not_accepted=not_accepted)
    facts = SubjectFacts(name="mine", promises=Promise.ANSWERING, contract=contract, attempts=3)
    file = load_subject_file(written(tmp_path, FULL))
    assert file.spec == SubjectSpec(
        facts=facts,
        upstreams=2,
        connect_timeout_ms=100,
        read_timeout_ms=200,
        quiet_ms=300,
        isolation=Isolation.SHARED,
        start_ms=4000,
        apis=(Api.CHAT, Api.COMPLETIONS),
        reach={
            "reused": "it closes every connection",
            "segments": "its subject file says that segments cannot be reached",
        },
    )
    assert (file.version, file.install, file.ready) == (("mine", "--version"), "pip install mine", "/health")
    assert file.not_executed == (Marker(status=502, body="not sent"),)
    assert file.values == {"retries": "1"}


def test_a_variant_overrides_keys_and_single_entries_of_tables(tmp_path: Path) -> None:
    path = written(tmp_path, FULL)
    plain, bold = load_subject_file(path), load_subject_file(path, "bold")
    assert (bold.spec.facts.name, bold.spec.facts.attempts, bold.values) == ("mine:bold", 5, {"retries": "9"})
    assert (bold.files, bold.command) == (plain.files, plain.command)
    assert load_subject_file(path, "renamed").spec.facts.name == "another"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('nmae = "x"', r"unknown key 'nmae'; expected some of name, command"),
        ('name = ""', r"name is ''; expected a printable text on one line"),
        ("name = 3", r"name is 3; expected a printable text"),
        ('name = "a\\u001b[2J"', r"name is 'a\\x1b\[2J'; expected a printable text"),
        ('name = "a\\nPASS b"', r"name is 'a\\nPASS b'; expected a printable text on one line"),
        ('command = ["a\\u0000"]', r"command is \['a\\x00'\]; expected a list of words"),
        ('body = "a\\u0000"', r"body is 'a\\x00'; expected the path of a template"),
        ('ready = "/a\\r\\nX: y"', r"ready is '/a\\r.*; expected \"tcp\" or an HTTP path"),
        ('idle = "/a b"', r"idle is '/a b'; expected an HTTP path"),
        ('probes = ["/\u00e9"]', "probes is .*; expected a list of paths"),
        ('probes = { "/a" = 2030-01-01 }', "probes is .*; expected a list of paths"),
        ('files = { "." = "" }', r"files is '\.'; expected a relative file name"),
        ('files = { "a\\u0000" = "" }', r"files is 'a\\x00'; expected a relative file name"),
        ('command = "mine"', r"command is 'mine'; expected a list of words, at least one"),
        ("command = []", r"command is \[\]; expected a list of words, at least one"),
        ('command = ["a", 3]', r"command is \['a', 3\]; expected a list of words"),
        ("upstreams = 0", r"upstreams is 0; expected a number, 1 to 16"),
        ("upstreams = true", r"upstreams is True; expected a number"),
        ("upstreams = 2.0", r"upstreams is 2\.0; expected a number"),
        ('ready = "udp"', r"ready is 'udp'; expected \"tcp\" or an HTTP path"),
        ('idle = "tcp"', r"idle is 'tcp'; expected an HTTP path"),
        ('speaks = ["openai-chat", "openai-chat"]', "expected one of 'openai-completions', 'openai-chat', or a list"),
        ("speaks = []", "expected one of 'openai-completions', 'openai-chat', or a list"),
        ('speaks = ["tinker", "openai-chat"]', r"speaks is \['tinker', .*; or 'tinker'"),
        ('speaks = "tinker"', r"promises is 'transparent'; expected answering or futures where it speaks 'tinker'"),
        ('promises = "futures"', r"promises is 'futures'; expected transparent or answering where it speaks 'openai-c"),
        ('promises = "all"', r"promises is 'all'; expected one of 'transparent', 'answering', 'futures'"),
        ("read_timeout_ms = 0", r"read_timeout_ms is 0; expected milliseconds, 1 to"),
        ('connect_timeout_ms = "300"', r"connect_timeout_ms is '300'; expected milliseconds"),
        ("quiet_ms = -1", r"quiet_ms is -1; expected milliseconds, 0 to"),
        ('isolation = "none"', r"isolation is 'none'; expected one of 'fresh', 'shared'"),
        ("attempts = 0", r"attempts is 0; expected a number, 1 to 100"),
        ('reach = { reset-befor = "x" }', r"reach is .*fault id or dimension"),
        ("reach = { reused = 3 }", r"reach is \{'reused': 3\}; expected a table"),
        ('reach = { reused = "" }', r"reach is .*the reason why"),
        ("says = []", r"says is \[\]; expected a table"),
        ("says = { failed = [] }", r"says\.failed is \[\]; expected only the key not_executed"),
        ('says = { not_executed = "502" }', r"says\.not_executed is '502'; expected a list of \{ status"),
        ("says = { not_executed = [502] }", r"says\.not_executed is 502; expected a list"),
        ("says = { not_executed = [{ status = 502 }] }", r"says\.not_executed is \{'status': 502\}; expected"),
        ('says = { not_executed = [{ status = 200, body = "x" }] }', r"'status': 200.*300 to 599"),
        ('says = { not_executed = [{ status = 502, body = "" }] }', r"'body': ''.*text that the answer's body"),
        ('contract = { not_accepted = [{ status = 503, body = "x", y = 1 }] }', r"contract\.not_accepted is .*'y'"),
        ('files = { "../x" = "" }', r"files is '\.\./x'; expected a relative file name"),
        ('files = { "/x" = "" }', r"files is '/x'; expected a relative file name"),
        ("files = { x = 3 }", r"files is \{'x': 3\}; expected a table of file name = text"),
        ('values = { port = "3" }', r"values is 'port'; expected a word other than dir, host, port"),
        ('names = { other = "3" }', r"names is 'other'; expected one of \[values\]"),
        ('tls = { other = "3" }', r"tls is 'other'; expected one of \[values\]: .* speak TLS"),
        ('values = { a = "{upstreams[7]}" }', r"values\.a has the placeholder"),
        ('values = { a = "1" }\nnames = { a = "{upstreams[7]}" }', r"names\.a has the placeholder"),
        ('values = { "a b" = "3" }', r"values is 'a b'; expected a word"),
        (
            'command = ["{prot}"]',
            r"command has the placeholder '\{prot\}'; expected one of \{dir\}, \{host\}, \{port\}",
        ),
        (
            'command = ["{upstreams[1]}"]',
            r"command has the placeholder '\{upstreams\[1\]\}'; expected .*upstreams\[0\]",
        ),
        ('version = ["{nothing}"]', r"version has the placeholder '\{nothing\}'"),
        ('files = { x = "{upstreams[7]}" }', r"files\.x has the placeholder '\{upstreams\[7\]\}'"),
        ("variants = 3", r"variants is 3; expected a table of tables"),
        ("variants = { a = 3 }", r"variants is \{'a': 3\}; expected a table of tables"),
        ('variants = { a = { nmae = "x" } }', r"unknown key 'variants\.a\.nmae'"),
        ("variants = { a = { upstreams = 99 } }", r"variants\.a\.upstreams is 99; expected a number"),
    ],
)
def test_a_bad_value_is_refused_with_file_key_value_and_expectation(tmp_path: Path, change: str, message: str) -> None:
    key = change.split(" = ")[0]
    least = "\n".join(line for line in LEAST.splitlines() if not line.startswith(f"{key} "))
    path = written(tmp_path, f"{least}\n{change}\n")
    with pytest.raises(SubjectFileError, match=f"^{re.escape(str(path))}: .*{message}"):
        load_subject_file(path)


def test_a_path_that_tells_what_is_in_flight_replaces_the_quiet_window(tmp_path: Path) -> None:
    file = load_subject_file(written(tmp_path, LEAST.replace("quiet_ms = 300", 'idle = "/idle"')))
    assert (file.idle, file.spec.quiet_ms) == ("/idle", None)


@pytest.mark.parametrize("line", LEAST.strip().splitlines())
def test_every_needed_key_is_missed(tmp_path: Path, line: str) -> None:
    key = line.split(" = ")[0]
    with pytest.raises(SubjectFileError, match=f"the key '{key}' is missing; expected "):
        load_subject_file(written(tmp_path, LEAST.replace(line, "")))


def test_what_is_no_toml_or_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SubjectFileError, match=r"mine\.toml: no TOML \(Invalid value"):
        load_subject_file(written(tmp_path, "name = "))
    (tmp_path / "bytes.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(SubjectFileError, match=r"bytes\.toml: no TOML"):
        load_subject_file(tmp_path / "bytes.toml")
    with pytest.raises(SubjectFileError, match=r"nowhere\.toml: No such file or directory; expected a subject file"):
        load_subject_file(tmp_path / "nowhere.toml")
    with pytest.raises(SubjectFileError, match="Is a directory"):
        load_subject_file(tmp_path)


def test_an_unknown_variant_is_refused_with_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(SubjectFileError, match=r"variants is 'shy'; expected one of bold, renamed"):
        load_subject_file(written(tmp_path, FULL), "shy")
    with pytest.raises(SubjectFileError, match=r"expected one of none: this file has no variants"):
        load_subject_file(written(tmp_path, LEAST), "shy")


def test_every_built_in_subject_loads_and_a_foreign_program_says_what_to_install() -> None:
    names = built_in_names()
    assert {"nginx", "nginx:retry-non-idempotent"} <= set(names)
    for name in names:
        file = built_in_file(name)
        assert file.spec.facts.name == name
        assert file.install or file.command[0] == "{python}"


@pytest.mark.parametrize("name", ["ngin", "nginx:", "nginx:shy", "", "../nginx"])
def test_an_unknown_built_in_subject_is_refused_with_those_that_exist(name: str) -> None:
    with pytest.raises(SubjectFileError, match=f"^subject {name!r}; expected one of .*nginx:retry-non-idempotent"):
        built_in_file(name)


def test_what_names_means_stands_only_where_there_is_a_name_server() -> None:
    """In place of a value, and filled itself."""
    found = {}
    for server in (None, ("h", 53)):
        known = meanings(
            dir_=Path("/d"),
            listen=("h", 9),
            here=Path("/s"),
            upstreams=[("up", 1)],
            values={"mine": "m"},
            names={"mine": "ask {name_server} for {upstreams[0].host} {else}"},
            name_server=server,
        )
        found[server] = known["mine"]
    assert found == {None: "m", ("h", 53): "ask h:53 for up {else}"}


@pytest.mark.parametrize(("tls", "meant"), [(False, "to up:1"), (True, "https to up:1 by /d/ca.pem")])
def test_what_tls_means_stands_only_over_tls(tls: bool, meant: str) -> None:
    """In place of a value; both are filled themselves."""
    known = meanings(
        dir_=Path("/d"),
        listen=("h", 9),
        here=Path("/s"),
        upstreams=[("up", 1)],
        values={"mine": "to {upstreams[0]}"},
        tls_values={"mine": "{scheme} to {upstreams[0]} by {ca}"},
        tls=tls,
    )
    assert known["mine"] == meant


def test_one_whose_file_says_what_tls_means_can_go_over_tls(tmp_path: Path) -> None:
    table = '[values]\na = ""\n[tls]\na = "ca {ca}"\n'
    assert load_subject_file(written(tmp_path, LEAST + table)).spec.tls
    assert not load_subject_file(written(tmp_path, LEAST)).spec.tls


def test_placeholders_are_filled_and_other_braces_left_alone() -> None:
    upstreams = [("127.0.0.1", 1), ("127.0.0.1", 2)]
    known = meanings(dir_=Path("/d"), listen=("h", 9), here=Path("/s"), upstreams=upstreams, values={"mine": "m"})
    every = "{dir} {host} {port} {python} {here} {mine} {upstreams[0]} {upstreams[1].host} {upstreams[1].port}"
    assert fill_command(every, known) == f"/d h 9 {sys.executable} /s m 127.0.0.1:1 127.0.0.1 2"
    assert fill_file(f"{every} {{other}} {{ }} {{{{}}", known).endswith(" {other} { } {{}")
    assert fill_command('{} { "a": 1 }', known) == '{} { "a": 1 }'
    with pytest.raises(PlaceholderError, match=r"'\{other\}'; expected one of \{mine\}, \{dir\}"):
        fill_command("{other}", known)
