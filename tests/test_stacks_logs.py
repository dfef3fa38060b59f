"""What containers wrote before a stack failed: the last of it, and what to do about it."""

from pathlib import Path

import pytest

from suites.stacks.logs import last_words


@pytest.mark.parametrize(
    "wrote",
    [
        b"nginx: [emerg] bind() to 127.0.0.1:8080 failed (98: Address already in use)\n",
        b"OSError: [Errno 98] Address already in use\n",
        b"Error: listen EADDRINUSE: address already in use 127.0.0.1:8080\n",
        b"listen tcp 127.0.0.1:8080: bind: address already in use\n",
    ],
    ids=["nginx", "python", "node", "go"],
)
def test_a_port_that_is_taken_is_said_with_what_to_do(wrote: bytes) -> None:
    """Mostly it is a number in the compose file, which the second instance wants as well."""
    said = last_words({"forwarder": b"", "router": wrote}, None)
    assert said.startswith("\nThe last that 'router' wrote:\n" + wrote.decode().strip())
    assert "A port is taken." in said
    assert "RETRYPROOF_PORT_NAME" in said


def test_other_words_give_no_advice_and_none_give_nothing(tmp_path: Path) -> None:
    """The last ten lines of each service; where they are kept is said where there are any."""
    lines = b"".join(b"line %d\n" % n for n in range(12))
    said = last_words({"forwarder": lines}, tmp_path)
    assert said.splitlines()[1:3] == ["The last that 'forwarder' wrote:", "line 2"]
    assert said.endswith(f"\nline 11\nAll that its containers wrote is in {str(tmp_path)!r}")
    assert last_words({"forwarder": b" \n"}, tmp_path) == ""
