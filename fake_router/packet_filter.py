"""Packet filter rules that make one TCP port unreachable, in a network namespace of our own (see own_network)."""

import subprocess


class PacketFilterError(OSError):
    """iptables did not do what it was asked to."""


def make_unreachable(port: int) -> None:
    """Every SYN to that port is answered with ICMP host unreachable; connections that exist are left alone.

    Raises PacketFilterError.
    """
    _iptables("-I", port)


def make_reachable(port: int) -> None:
    """Take that rule away again. Raises PacketFilterError."""
    _iptables("-D", port)


def _iptables(action: str, port: int) -> None:
    match = ["INPUT", "-p", "tcp", "--dport", str(port), "--syn"]
    command = ["iptables", "-w", action, *match, "-j", "REJECT", "--reject-with", "icmp-host-unreachable"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PacketFilterError(f"{command!r} ended with {done.returncode}: {done.stderr.strip()!r}")
