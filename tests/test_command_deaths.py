"""A subject that a fault kills: FAIL when it dies again alone, UNKNOWN when it does not."""

import json
from pathlib import Path

import pytest

from tests.command_process import Ended, Place, wait_for_end

# Forwards one request at a time to its upstream, on a connection of its own, and dies of a 500 when {dies} lets it.
FORWARDER = r"""
import os, socket
def message(sock):
    data = b""
    while b"\r\n\r\n" not in data:
        more = sock.recv(65536)
        if not more: return data
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    length = int(lengths[0]) if lengths else 0
    while len(body) < length:
        more = sock.recv(65536)
        if not more: break
        body += more
    return head + b"\r\n\r\n" + body
def dies():
    if "{dies}" == "always": return True
    try: os.close(os.open("{here}/died", os.O_CREAT | os.O_EXCL))
    except FileExistsError: return False
    return True
host, _, port = "{upstreams[0]}".rpartition(":")
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("{host}", {port}))
listener.listen()
while True:
    caller, _ = listener.accept()
    with caller:
        request = message(caller)
        if request:
            with socket.create_connection((host, int(port))) as router:
                router.sendall(request)
                reply = message(router)
            if b" 500 " in reply[:16] and dies(): os._exit(7)
            caller.sendall(reply)
"""
SUBJECT = """\
name = "mortal"
command = ["{{python}}", "-I", "-S", "{{dir}}/forwarder.py"]
speaks = "openai-completions"
promises = "transparent"
connect_timeout_ms = 300
read_timeout_ms = 300
quiet_ms = 50
values.dies = "{dies}"
files."forwarder.py" = {forwarder}
"""


def check(folder: Path, dies: str, *only: str) -> tuple[Place, Ended]:
    """One examination of the mortal forwarder."""
    place = Place(path=folder)
    (folder / "mortal.toml").write_text(SUBJECT.format(dies=dies, forwarder=json.dumps(FORWARDER)))
    return place, place.run("check", "mortal.toml", "--only", *only, "--out", "out")


def test_a_subject_that_dies_of_a_fault_again_when_alone_fails(tmp_path: Path) -> None:
    """Exit code 1, with the check, the way it died, and a plan that kills it once more."""
    place, ended = check(tmp_path, "always", "status/500-before/first")
    assert (ended.code, ended.err) == (1, "")
    (cell,) = place.report().cells
    assert (cell.verdict, "survives" in {finding.check for finding in cell.findings}) == ("FAIL", True)
    assert "mortal" in ended.out
    assert "The subject outlives every fault." in ended.out
    assert "exited with code 7" in ended.out
    (plan,) = (place.folders()[0] / "plans").iterdir()
    again = place.run("replay", str(plan), "--subject", "mortal.toml")
    assert (again.code, again.err) == (1, "")
    assert "must survives: FAIL: the subject's process ended by itself: exited with code 7" in again.out
    wait_for_end(place.processes())
    assert place.temporary() == []


def test_a_subject_that_died_and_does_not_when_alone_proves_nothing(tmp_path: Path) -> None:
    """Exit code 3; both records are shown."""
    place, ended = check(tmp_path, "once", "status/500-before/first")
    assert (ended.code, ended.err) == (3, "")
    (cell,) = place.report().cells
    assert cell.verdict == "UNKNOWN"
    says = {finding.check: finding.says for finding in cell.findings}
    assert "exited with code 7" in says["survives"]
    assert "alone it did not come back" in says["survives"]
    assert "UNKNOWN" in ended.out


@pytest.mark.parametrize("dies", ["always", "once"])
def test_a_fault_that_does_not_kill_it_is_judged_as_ever(tmp_path: Path, dies: str) -> None:
    """The forwarder is sound where nothing kills it."""
    place, ended = check(tmp_path, dies, "status/502-*/first")
    assert (ended.code, ended.err) == (0, "")
    assert {cell.verdict for cell in place.report().cells} == {"PASS"}
