"""A compose file is read as a subject, and refused in words that say what was expected."""

from pathlib import Path

import pytest

from suites.stacks.compose_file import START_MS, load_stack, stack_name
from suites.stacks.labels import Role
from suites.subject import Isolation
from suites.subject_file import built_in_file
from suites.subject_reader import SubjectFileError

ROOT = Path(__file__).parent.parent
SHIPPED = sorted(path.parent.name for path in (ROOT / "compose").glob("*/compose.yaml"))

WHOLE = """
services:
  proxy:
    image: proxy
    environment: {PORT: "${RETRYPROOF_PORT}", ROUTER: "${RETRYPROOF_UPSTREAM_0}"}
    labels:
      - retryproof.role=forwarder
      - retryproof.speaks=openai-completions,openai-chat
      - retryproof.promises=transparent
      - retryproof.quiet_ms=700
      - retryproof.contract.not_accepted=[{status = 503, body = "full"}]
  router:
    image: router
    environment: ["PORT=${RETRYPROOF_PORT_ROUTER:-9}"]
    labels: {retryproof.role: router}
"""


def written(folder: Path, text: str) -> str:
    """The path of a compose file with that text."""
    path = folder / "compose.yaml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", SHIPPED)
def test_each_stack_that_comes_along_is_a_subject(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name, in the source: what is installed comes without them."""
    monkeypatch.chdir(ROOT)
    stack = load_stack(f"stack:{name}")
    assert stack.file.spec.isolation is Isolation.SHARED
    assert "RETRYPROOF_PORT" in stack.ports


def test_a_stack_is_like_a_built_in_subject_where_it_says_so() -> None:
    """Of nginx it has all that is known, and its files; what its labels say stands before that."""
    stack, nginx = load_stack("stack:nginx"), built_in_file("nginx")
    assert stack.file.files == nginx.files
    assert (stack.file.spec.reach, stack.file.spec.tls, stack.file.spec.names) == (nginx.spec.reach, True, True)
    assert (stack.file.spec.isolation, nginx.spec.isolation) == (Isolation.SHARED, Isolation.FRESH)


def test_labels_say_what_a_subject_file_would(tmp_path: Path) -> None:
    """Texts as they are, lists with commas, tables entry by entry; and each variable of a port is one."""
    stack = load_stack(written(tmp_path, WHOLE))
    spec = stack.file.spec
    assert [api.value for api in spec.apis] == ["completions", "chat"]
    assert (spec.quiet_ms, spec.tls, spec.upstreams, spec.start_ms) == (700, False, 1, START_MS)
    assert (spec.container, spec.network) == (True, False)
    assert [marker.status for marker in spec.facts.contract.not_accepted] == [503]
    assert stack.labelled.roles == {"proxy": Role.FORWARDER, "router": Role.ROUTER}
    assert stack.ports == ("RETRYPROOF_PORT", "RETRYPROOF_PORT_ROUTER")
    assert not stack.takes_options


def test_a_stack_whose_file_mentions_options_takes_them() -> None:
    """Those with which the suites of futures start it are its own, not those of what it is like."""
    stack = load_stack("stack:vllm")
    assert stack.takes_options
    assert (stack.file.offer.store, stack.file.offer.clock, stack.file.offer.room) == (True, False, False)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("role=forwarder", "role=frobnicator", "'frobnicator'; expected one of forwarder, router"),
        ("role=forwarder", "rule=forwarder", r"forwarder is said of \[\]; expected it of one service"),
        ("retryproof.role: router", "retryproof.role: forwarder", r"\['proxy', 'router'\]; expected it of one service"),
        ("quiet_ms=700", "quiet_ms=soon", "quiet_ms is 'soon'; expected milliseconds"),
        ("quiet_ms=700", "command=sh", "label 'retryproof.command'; expected role, like, or one of"),
        ("quiet_ms=700", "quiet_ms.x=1", "label 'retryproof.quiet_ms.x'; expected retryproof.quiet_ms"),
        ("quiet_ms=700", "like=ngnix", "like is 'ngnix'; expected one of aiohttp-retry"),
        ("promises=transparent", "quiet_ms=1", "the key 'promises' is missing"),
        ("services:", "services: [", "no YAML"),
        ("services:", "others:", "services is None; expected a table of services"),
    ],
)
def test_a_file_that_is_no_subject_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    """The message names the file, the label and what was expected."""
    assert old in WHOLE
    with pytest.raises(SubjectFileError, match=f"compose.yaml.*{says}"):
        load_stack(written(tmp_path, WHOLE.replace(old, new)))


def test_a_name_that_is_no_stack_lists_those_there_are() -> None:
    """And a path that is no file says so."""
    with pytest.raises(SubjectFileError, match=r"stack 'ngnix'; expected one of .*nginx"):
        load_stack(stack_name("ngnix"))
    with pytest.raises(SubjectFileError, match=r"nowhere.yaml: No such file or directory; expected a compose file"):
        load_stack(stack_name("nowhere.yaml"))
