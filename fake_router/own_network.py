"""A network namespace of this process's own: only loopback exists in it, and a packet filter disturbs nobody."""

import ctypes
import errno
import fcntl
import os
import shutil
import socket
import struct
from pathlib import Path

# linux/sched.h, linux/sockios.h, linux/if.h
_CLONE_NEWUSER, _CLONE_NEWNET = 0x1000_0000, 0x4000_0000
_SIOCSIFFLAGS = 0x8914
_IFF_UP, _IFF_RUNNING = 0x1, 0x40

LOOPBACK = "lo"
_OF_CONTAINERS = "eth0"  # Docker and Podman call the first one so

_entered = False
_alone = False  # in a user namespace of our own: no other user exists in it
_shared = False  # others reach it, from networks of their own


class OwnNetworkError(OSError):
    """The kernel does not let this process have a network of its own."""


def enter() -> None:
    """Move this process, and all that it starts from now on, into a network of its own. Call it before any thread
    is started and any socket opened. Without CAP_SYS_ADMIN it becomes root of a user namespace of its own as well.

    Raises OwnNetworkError.
    """
    global _entered, _alone
    if _entered:
        return
    try:
        _unshare(_CLONE_NEWNET)
    except OwnNetworkError as error:
        if error.errno != errno.EPERM:
            raise
        uid, gid = os.getuid(), os.getgid()
        _unshare(_CLONE_NEWNET | _CLONE_NEWUSER)
        _map_ids(uid, gid)
        _alone = True
    _bring_up_loopback()
    _entered = True


def join(namespace: Path) -> None:
    """Move this process, and all that it starts from now on, into the network at that path, which others reach. Call
    it before any thread is started and any socket opened that is no unix socket. Raises OwnNetworkError.
    """
    global _entered, _shared
    try:
        with namespace.open("rb") as file:
            _require(_libc().setns(file.fileno(), _CLONE_NEWNET), "setns")
    except OwnNetworkError:
        raise
    except OSError as error:
        raise OwnNetworkError(error.errno, f"{str(namespace)!r}: {error.strerror}") from None
    _entered = _shared = True


def inherit(*, alone: bool) -> None:
    """This process was started by one that had entered a network of its own, and so lives in it."""
    global _entered, _alone
    _entered, _alone = True, alone


def is_entered() -> bool:
    """This process lives in a network of its own."""
    return _entered


def interface() -> str:
    """Where what a subject sends is to be seen: on loopback, or where others reach a container that was joined."""
    return _OF_CONTAINERS if _shared else LOOPBACK


def can_filter_packets() -> bool:
    """This process lives in a network of its own, and can set up packet filters there."""
    return _entered and shutil.which("iptables") is not None


def is_alone() -> bool:
    """This process was no root, and lives with a single user: what it starts cannot become another one."""
    return _alone


def _unshare(flags: int) -> None:
    _require(_libc().unshare(flags), "unshare")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)  # os.unshare and os.setns are there from Python 3.12 on


def _require(returned: int, call: str) -> None:
    if returned != 0:
        number = ctypes.get_errno()
        raise OwnNetworkError(number, f"no network of its own: {call} says {os.strerror(number)!r}")


def _map_ids(uid: int, gid: int) -> None:
    """The user is root in here; user_namespaces(7) wants setgroups denied first."""
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    except OSError as error:
        raise OwnNetworkError(error.errno, f"no user namespace of its own: {error}") from error


def _bring_up_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP | _IFF_RUNNING))
