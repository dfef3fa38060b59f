"""How the text of an option becomes its value; each raises argparse.ArgumentTypeError saying what was expected."""

import argparse

from forwarder.carrier import CARRIERS
from forwarder.policy import Policy, UnknownPolicyError, policy_named

_TRUE, _FALSE = ("1", "on", "true", "yes"), ("0", "false", "no", "off")


def address(text: str) -> tuple[str, int]:
    """HOST:PORT; an IPv6 address in brackets."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isdecimal() or int(port) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r}; expected HOST:PORT with a port from 0 to 65535")
    return host, int(port)


def policy(name: str) -> Policy:
    """A policy by its name."""
    try:
        return policy_named(name)
    except UnknownPolicyError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def http_client(name: str) -> str:
    """One of the HTTP clients; whether it is installed is seen when it is used."""
    if name not in CARRIERS:
        raise argparse.ArgumentTypeError(f"{name!r}; expected one of {', '.join(CARRIERS)}")
    return name


def whole(text: str) -> int:
    """A whole number; its limits are checked where it is used."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}; expected a whole number") from None


def positive(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}; expected a whole number from 1")
    return int(text)


def not_negative(text: str) -> int:
    """A whole number from 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r}; expected a whole number from 0")
    return int(text)


def store(text: str) -> str:
    """The path of the SQLite file; empty for memory."""
    kind, _, path = text.partition(":")
    if text == "memory":
        return ""
    if kind != "sqlite" or path in ("", ":memory:"):  # SQLite would take the latter for no file at all
        raise argparse.ArgumentTypeError(f"{text!r}; expected memory or sqlite:PATH")
    return path


def text(text: str) -> str:
    """Any text."""
    return text


def switch(text: str) -> bool:
    """On or off, of an environment variable."""
    if text.lower() not in (*_TRUE, *_FALSE):
        raise argparse.ArgumentTypeError(f"{text!r}; expected one of {', '.join((*_TRUE, *_FALSE))}")
    return text.lower() in _TRUE
