"""Where the router is: all operations stick to one URL, and leave a failed one together."""

import pytest

from forwarder.urls import RotatingUrls

A, B, C = "http://a", "http://b:81/base", "https://[::1]:82"


def test_all_stick_to_one_url_until_it_fails_and_then_to_the_next() -> None:
    """Wrapping around at the end of the list."""
    urls = RotatingUrls([A, B, C])
    assert [urls.current(), urls.refresh(A), urls.current(), urls.refresh(B), urls.refresh(C)] == [A, B, B, C, A]


def test_a_failure_of_a_url_that_others_have_left_moves_nobody() -> None:
    """Two operations that fail together move on by one URL, not by two."""
    urls = RotatingUrls([A, B, C])
    assert [urls.refresh(A), urls.refresh(A), urls.current()] == [B, B, B]


def test_a_single_url_refreshes_to_itself() -> None:
    """There is nowhere else to go."""
    assert RotatingUrls([A]).refresh(A) == A


def test_a_trailing_slash_is_dropped() -> None:
    """The path is added with a slash of its own."""
    assert RotatingUrls(["http://a/"]).current() == "http://a"


@pytest.mark.parametrize(
    "wrong", [[], ["ftp://a"], ["a:80"], ["http://"], ["http://a:99999"], ["http://a:0"], ["http://a?x=1"], "http://a"]
)
def test_what_is_no_router_url_is_refused_with_an_example(wrong: list[str]) -> None:
    """The message quotes the value and says what was expected."""
    with pytest.raises(ValueError, match="expected"):
        RotatingUrls(wrong)
