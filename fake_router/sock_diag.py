"""What the kernel says of TCP sockets that are not ours (sock_diag(7)). Linux only; needs no privilege."""

import errno
import socket
import struct
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

# linux/netlink.h, linux/sock_diag.h, linux/inet_diag.h
_NETLINK_SOCK_DIAG = 4
_TCPDIAG_GETSOCK = 18  # names no family: one walk over the kernel's table finds IPv4 and IPv6, not two
_NLM_F_REQUEST, _NLM_F_DUMP = 0x1, 0x300
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_EXT_SKMEMINFO = 1 << (7 - 1)  # idiag_ext asks for attribute n with bit n - 1
_SKMEMINFO = 7
_MEMINFO_DROPS = 8
_NLMSG = struct.Struct("=IHHII")  # length, type, flags, sequence, port id
_REQUEST = struct.Struct("=BBBB48sII")  # inet_diag_req: family, lengths, attributes, id, states, dump's state
_ID = struct.Struct("=2s2s16s16sI8s")  # inet_diag_sockid: ports in network order, addresses, interface, cookie
_REPLY = struct.Struct("=BBBB48sIIIII")  # inet_diag_msg: family, state; the last number is the inode
_ATTRIBUTE = struct.Struct("=HH")
_BYTECODE = 1  # the attribute with a program that chooses sockets
_OPERATION = struct.Struct("=BBH")  # inet_diag_bc_op: code, bytes to go on by if so, and if not
_JUMP, _REMOTE_AT_LEAST, _REMOTE_AT_MOST = 1, 4, 5
_PORT_BYTES = 5 * _OPERATION.size  # of the program, for each port


@dataclass(frozen=True, slots=True, kw_only=True)
class TcpSocket:
    """One end of a connection, or a listener. inode: 0 when no process holds it. name: the kernel's, for this one
    socket and no later one with its ports.
    """

    source_port: int
    remote_port: int
    unread_bytes: int
    inode: int
    drops: int
    family: int
    name: bytes


def tcp_sockets(
    states: int, *, source_port: int | None = None, remote_ports: Collection[int] | None = None
) -> Iterator[TcpSocket]:
    """Every TCP socket in one of these states (bit n for number n in net/tcp_states.h), or only those with that port,
    or one of those. A walk over all sockets of the machine and the kernel's empty places for more: 1 ms.

    Raises ValueError for a number that is no port, OSError when the kernel has no sock_diag.
    """
    for port in (*(() if source_port is None else (source_port,)), *(remote_ports or ())):
        if not 0 < port < 1 << 16:  # 0 would match every port
            raise ValueError(f"TCP port {port!r}; expected 1 to 65535")
    source = (source_port or 0).to_bytes(2, "big")
    body = _REQUEST.pack(0, 0, 0, _EXT_SKMEMINFO, _ID.pack(source, b"", b"", b"", 0, b""), states, 0)
    if remote_ports is not None:
        program = _towards(sorted(set(remote_ports)))
        body += _ATTRIBUTE.pack(_ATTRIBUTE.size + len(program), _BYTECODE) + program
    with _asking() as netlink:
        netlink.sendto(_message(_NLM_F_REQUEST | _NLM_F_DUMP, body), (0, 0))
        while True:
            for kind, content in _messages(netlink.recv(1 << 18)):
                if kind == _NLMSG_DONE:
                    return
                if kind == _NLMSG_ERROR:
                    raise _refusal(content)
                yield _parsed(content)


def as_they_are(sockets: Collection[TcpSocket]) -> Iterator[TcpSocket]:
    """Those of them that the kernel still knows, as they are now: 10 us each, for it looks for no other.

    Raises OSError when the kernel has no sock_diag.
    """
    with _asking() as netlink:
        for one in sockets:
            body = _REQUEST.pack(one.family, 0, 0, 0, one.name, 0, 0)
            netlink.sendto(_message(_NLM_F_REQUEST, body), (0, 0))
            ((kind, content),) = _messages(netlink.recv(1 << 12))
            if kind != _NLMSG_ERROR:
                yield _parsed(content)
            elif (refusal := _refusal(content)).errno != errno.ENOENT:  # or another has its ports now
                raise refusal


@contextmanager
def _asking() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_SOCK_DIAG) as netlink:
        yield netlink


def _message(flags: int, body: bytes) -> bytes:
    return _NLMSG.pack(_NLMSG.size + len(body), _TCPDIAG_GETSOCK, flags, 1, 0) + body


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        length, kind, _flags, _sequence, _pid = _NLMSG.unpack_from(data, at)
        yield kind, data[at + _NLMSG.size : at + length]
        at += (length + 3) & ~3


def _refusal(content: bytes) -> OSError:
    code = -struct.unpack_from("=i", content)[0]
    return OSError(code, f"sock_diag: {errno.errorcode.get(code, code)}; expected a list of sockets")


def _towards(ports: list[int]) -> bytes:
    """A program that chooses sockets with one of these remote ports: for each port two comparisons and a jump to the
    end; behind the last of them a jump beyond the end, which is how a program says no.
    """
    size = _OPERATION.size
    whole = len(ports) * _PORT_BYTES + size
    program = b""
    for port in ports:
        number = _OPERATION.pack(0, 0, port)
        program += _OPERATION.pack(_REMOTE_AT_LEAST, 2 * size, 5 * size) + number
        program += _OPERATION.pack(_REMOTE_AT_MOST, 2 * size, 3 * size) + number
        program += _OPERATION.pack(_JUMP, size, whole - len(program))
    return program + _OPERATION.pack(_JUMP, size, 2 * size)


def _parsed(message: bytes) -> TcpSocket:
    family, _state, _timer, _retransmits, name, _expires, unread, _unsent, _uid, inode = _REPLY.unpack_from(message)
    drops, at = 0, _REPLY.size
    while at + _ATTRIBUTE.size <= len(message):
        length, kind = _ATTRIBUTE.unpack_from(message, at)
        if kind == _SKMEMINFO:
            drops = struct.unpack_from("=I", message, at + _ATTRIBUTE.size + 4 * _MEMINFO_DROPS)[0]
        at += (length + 3) & ~3
    source, remote, *_ = _ID.unpack(name)
    return TcpSocket(
        source_port=int.from_bytes(source, "big"),
        remote_port=int.from_bytes(remote, "big"),
        unread_bytes=unread,
        inode=inode,
        drops=drops,
        family=family,
        name=name,
    )
