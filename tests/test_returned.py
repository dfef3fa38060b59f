"""What a client in Python returns is read without trust: its objects' own failures are its own, with their place."""

import pytest

from faults.form import Api
from suites.returned import NOTHING, Returned, UnreadableError, read, words


class _SulksError(Exception):
    def __str__(self) -> str:
        raise ValueError


class _Number(int):
    pass


class _Dumps:
    """An object of a client library."""

    def model_dump(self) -> object:
        raise _SulksError


class _Gets(dict[str, object]):
    def get(self, *_: object) -> object:
        return [][len(self)]


class _Looks:
    @property
    def model_dump(self) -> object:
        raise OSError("closed")


def test_plain_numbers_and_a_plain_text_are_a_result() -> None:
    """Whatever kind of whole number they are."""
    returned = read({"choices": [{"token_ids": [1, _Number(2)], "text": "t"}]}, Api.COMPLETIONS)
    assert returned == Returned(tokens=(1, 2), text="t")
    assert type((returned.tokens or ())[1]) is int


def test_a_text_whose_token_ids_something_on_the_way_has_dropped_is_a_result() -> None:
    """Of a text it is known whose it is; of what holds neither nothing is known."""
    assert read({"choices": [{"message": {"content": "t"}}]}, Api.CHAT) == Returned(text="t")
    assert read({"choices": [{"token_ids": None, "text": "t"}]}, Api.COMPLETIONS) == Returned(text="t")
    assert read({"choices": [{"token_ids": 7, "text": "t"}]}, Api.COMPLETIONS) == NOTHING
    assert read({"choices": [{"token_ids": [7]}]}, Api.COMPLETIONS) == NOTHING


@pytest.mark.parametrize("token", [7.0, True, "7", None, _SulksError()])
def test_what_is_no_number_is_no_token(token: object) -> None:
    """Else it could compare as it likes."""
    assert read({"choices": [{"token_ids": [1, token], "text": "t"}]}, Api.COMPLETIONS) == NOTHING


@pytest.mark.parametrize(
    ("value", "says", "place"),
    [
        (_Dumps(), "a _Dumps, cannot be read: it raised _SulksError, whose text raised ValueError", "in model_dump"),
        (_Gets(choices=[]), "a _Gets, cannot be read: it raised IndexError: list index out of range", "in get"),
        (_Looks(), "a _Looks, cannot be read: it raised OSError: closed", "in model_dump"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(value: object, says: str, place: str) -> None:
    """In the client's own file, not in ours."""
    with pytest.raises(UnreadableError) as raised:
        read(value, Api.COMPLETIONS)
    assert says in str(raised.value)
    assert f", at {__file__}:" in str(raised.value)
    assert f"{place}; expected a dict" in str(raised.value)
    assert "returned.py" not in str(raised.value).replace(__file__, "")


def test_an_exception_without_words_is_named() -> None:
    """By its class."""
    assert words(_SulksError()) == "_SulksError, whose text raised ValueError"
    assert words(OSError("cut")) == "OSError: cut"
