"""A CA in two files is the same CA for the router and for those who trust it, or it is refused."""

import ssl
from pathlib import Path

import pytest
import trustme

from fake_router.authority import key_file_of, read_authority, write_authority
from fake_router.identity import Identity
from faults.handshake import Flaw
from retryproof.__main__ import run
from retryproof.exits import Exit
from suites.given import Given, url_subject

LISTEN = "https://127.0.0.1:9000"


def shaken(identity: Identity, trust: ssl.SSLContext, name: str) -> None:
    """A handshake in memory. Raises ssl.SSLError where the certificate is not believed."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trust.wrap_bio(to_client, to_server, server_hostname=name)
    server = identity.context().wrap_bio(to_server, to_client, server_side=True)
    for side in (client, server, client):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue


def test_who_trusts_the_file_believes_the_router(tmp_path: Path) -> None:
    """Under the names of `listen` and `listen_names`, and no other; the key is for its owner alone."""
    path = tmp_path / "ca.pem"
    write_authority(path)
    settings = (f"listen_ca={path}", 'listen_names=["mine.test"]')
    options = Given(listen=(LISTEN,), speaks="openai-completions", promises="transparent", settings=settings)
    spec = url_subject("http://127.0.0.1:8000", options).spec
    assert (spec.listen, spec.tls, spec.always_tls) == ((("127.0.0.1", 9000),), True, True)
    trust = ssl.create_default_context(cafile=path)
    assert spec.identity is not None
    for name in ("127.0.0.1", "localhost", "mine.test"):
        shaken(spec.identity, trust, name)
    with pytest.raises(ssl.SSLCertVerificationError):
        shaken(spec.identity, trust, "other.test")
    assert key_file_of(path).stat().st_mode & 0o077 == 0
    assert all(spec.identity.can_show(flaw) for flaw in Flaw)


def test_a_certificate_of_ones_own_is_shown_as_it_is(tmp_path: Path) -> None:
    """What is flawed under the same CA cannot be made."""
    ca = trustme.CA()
    leaf = ca.issue_cert("router.test")
    (tmp_path / "cert.pem").write_bytes(leaf.private_key_and_cert_chain_pem.bytes())
    settings = (f"listen_cert={tmp_path / 'cert.pem'}",)
    options = Given(listen=(LISTEN,), speaks="openai-completions", promises="transparent", settings=settings)
    identity = url_subject("http://127.0.0.1:8000", options).spec.identity
    assert identity is not None
    trust = ssl.create_default_context()
    ca.configure_trust(trust)
    shaken(identity, trust, "router.test")
    assert [flaw for flaw in Flaw if identity.can_show(flaw)] == [Flaw.UNKNOWN_CA]


def test_the_command_makes_one_and_says_what_it_is_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once: the second time, and where there is no folder, it is exit code 2 with one message."""
    path = tmp_path / "ca.pem"
    assert run(["ca", str(path)]) is Exit.PASS
    assert capsys.readouterr().err == (
        f"retryproof: a CA is in {str(path)!r}, for the forwarder to trust, and its key in {str(key_file_of(path))!r}\n"
    )
    read_authority(path)
    for where, why in ((path, "File exists"), (tmp_path / "none" / "ca.pem", "No such file or directory")):
        assert run(["ca", str(where)]) is Exit.USAGE
        assert f"cannot write the CA to {str(key_file_of(where))!r}: {why}; expected" in capsys.readouterr().err


def test_a_ca_is_never_overwritten(tmp_path: Path) -> None:
    """Somebody may trust it already; and no half of one is left behind."""
    path = tmp_path / "ca.pem"
    write_authority(path)
    with pytest.raises(FileExistsError):
        write_authority(path)
    key_file_of(path).unlink()
    with pytest.raises(FileExistsError):
        write_authority(path)
    assert not key_file_of(path).exists()


def test_what_is_no_ca_is_refused(tmp_path: Path) -> None:
    """The key of another one, and what is no PEM at all."""
    one, other = tmp_path / "one.pem", tmp_path / "other.pem"
    write_authority(one)
    write_authority(other)
    key_file_of(one).write_bytes(key_file_of(other).read_bytes())
    with pytest.raises(ValueError, match=r"'one\.pem\.key' is the key of another certificate"):
        read_authority(one)
    other.write_text("nothing")
    with pytest.raises(ValueError, match="PEM"):
        read_authority(other)
