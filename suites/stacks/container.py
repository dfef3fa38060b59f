"""One container, and what can be done to it: the one file in which the Docker SDK breaks something, and mends it."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, assert_never

from docker.errors import DockerException
from docker.models.containers import Container
from requests.exceptions import RequestException

from faults.disturbance import Disturbing
from suites.printable import shortened
from suites.stacks.errors import StackError
from suites.stacks.network import moved_address
from suites.stacks.shaping import shape, shaped, unshape
from suites.stacks.state import State

STOPPING_S = 1  # between SIGTERM and SIGKILL
_ROOM_BYTES = 16 * 1024 * 1024  # beside what it has: whoever asks for more meets the limit
_SHOWN_CHARACTERS = 400
# Of all that are there the kernel takes the first process (proc(5): oom_score_adj), and with it the others end. Those
# who ask are several, so that none of them is the largest.
_ASKS_FOR_MEMORY = """
echo 1000 >/proc/1/oom_score_adj
for one in 1 2 3 4 5 6 7 8; do head -c 8000000000 /dev/zero | tail >/dev/null & done
wait
"""
_BUSY = "/dev/shm/retryproof"
_IS_BUSY = f": >{_BUSY}; while [ -e {_BUSY} ]; do :; done"
_PERIOD_US, _LEAST_QUOTA_US = 200_000, 1_000  # no engine takes a smaller quota
_USUAL_PERIOD_US = 100_000
_THROTTLED_S = 5
_DROP = ("INPUT", "!", "-i", "lo", "-j", "DROP")
_UNLIMITED = -1
_MUCH_BYTES = 1 << 40  # an engine takes no limit away, but any: this one nobody meets


class Contained:
    """A container of a service. Every method blocks, and raises StackError where the engine fails. network_of: the
    network of that name.
    """

    def __init__(self, service: str, container: Container, network_of: Callable[[str], Any]) -> None:
        self.service = service
        self._container = container
        self._network_of = network_of
        self._undo: list[Callable[[], Any]] = []  # the last first
        self._doing: Disturbing | None = None
        self._killed_at_ns: int | None = None
        self._throttled_before = 0  # periods in which it had to wait for CPU

    def state(self) -> State:
        """What the engine says of it now."""
        with self._asked("does not say how it is"):
            self._container.reload()
            return replace(state_of(self._container), **self._witnessed())

    def disturb(self, how: Disturbing) -> int:
        """Do that; it is so when this returns. Since when, at the latest (machine's monotonic clock, ns)."""
        with self._asked(f"did not do it ({how})"):
            self._doing, self._killed_at_ns = how, None
            match how:
                case Disturbing.PAUSE:
                    self._container.pause()
                    self._undo.append(self._container.unpause)
                case Disturbing.KILL:
                    self._kill()
                    self._undo.append(self._container.start)
                case Disturbing.STOP:
                    self._container.stop(timeout=STOPPING_S)
                    self._undo.append(self._container.start)
                case Disturbing.RESTART:
                    self._kill()
                    self._container.start()
                case Disturbing.RECREATE:
                    self._make_anew()
                case Disturbing.MEMORY:
                    self._starve()
                case Disturbing.DISCONNECT | Disturbing.MOVE:
                    self._take_off(comes_back=how is Disturbing.MOVE)
                case Disturbing.LOSE:
                    self._iptables("-A", *_DROP)
                    self._undo.append(partial(self._iptables, "-D", *_DROP))
                case Disturbing.RATE | Disturbing.DELAY:
                    self._shape(str(how.queueing))
                case Disturbing.THROTTLE:
                    self._throttle()
                case _:
                    assert_never(how)
        return self._killed_at_ns or time.monotonic_ns()

    def _kill(self) -> None:
        """It has ended when this returns; what is done to it after that strikes nobody any more."""
        self._container.kill()
        self._container.wait()
        self._killed_at_ns = time.monotonic_ns()

    def listens(self, port: int) -> bool:
        """Somebody in it does, at that port of IPv4."""
        line = f": [0-9A-F]*:{port:04X} 00000000:0000 0A "  # proc(5): /proc/net/tcp
        with self._asked("does not say whether anybody listens"):
            return bool(self._container.exec_run(["grep", "-q", line, "/proc/net/tcp"]).exit_code == 0)

    def end(self, *, killed: bool, within_s: float) -> State:
        """Its first process has ended: by SIGKILL, or by SIGTERM within that time, and by SIGKILL then."""
        with self._asked("did not end it"):
            if killed:
                self._container.kill()
            else:
                self._container.stop(timeout=math.ceil(within_s))
            self._container.wait()
        return self.state()

    def begin(self) -> None:
        """It is started, as it was before."""
        with self._asked("did not start it again"):
            self._container.start()

    def calm(self) -> None:
        """It is as it was before all that was done to it."""
        with self._asked("did not undo what was done"):
            while self._undo:
                self._undo.pop()()
            self._doing = None

    def _make_anew(self) -> None:
        """By the same configuration, under the same name, and in the same place."""
        self._container.reload()
        engine, attrs, name = self._container.client, self._container.attrs, self._container.name
        config = {**attrs["Config"], "HostConfig": attrs["HostConfig"]}
        config.pop("Hostname", None)  # its id, unless somebody has said otherwise
        if attrs["HostConfig"]["NetworkMode"] != "host":
            joined = attrs["NetworkSettings"]["Networks"].items()
            config["NetworkingConfig"] = {"EndpointsConfig": {network: _same_place(one) for network, one in joined}}
        self._kill()
        self._container.remove(force=True, v=True)
        self._container = engine.containers.get(engine.api.create_container_from_config(config, name)["Id"])
        self._container.start()

    def _starve(self) -> None:
        limit = self._container.attrs["HostConfig"].get("Memory") or _MUCH_BYTES
        used = self._container.stats(stream=False, one_shot=True)["memory_stats"]["usage"]
        self._container.update(mem_limit=used + _ROOM_BYTES, memswap_limit=used + _ROOM_BYTES)
        self._undo.append(self._container.start)
        self._undo.append(partial(self._container.update, mem_limit=limit, memswap_limit=_UNLIMITED))
        # It is killed with the rest: that nobody answers is what was asked for.
        self._container.exec_run(["sh", "-c", _ASKS_FOR_MEMORY], user="root", detach=True)
        self._container.wait()

    def _throttle(self) -> None:
        """A limit that nobody meets would strike nobody: something in it is busy from then on, and has met it."""
        told = self._container.attrs["HostConfig"]
        period, quota = told.get("CpuPeriod") or _USUAL_PERIOD_US, told.get("CpuQuota") or _UNLIMITED
        self._throttled_before = self._throttled_periods()
        self._container.exec_run(["sh", "-c", _IS_BUSY], user="root", detach=True)
        self._undo.append(partial(self._container.exec_run, ["rm", "-f", _BUSY], user="root"))
        self._container.update(cpu_period=_PERIOD_US, cpu_quota=_LEAST_QUOTA_US)
        self._undo.append(partial(self._container.update, cpu_period=period, cpu_quota=quota))
        deadline_s = time.monotonic() + _THROTTLED_S
        while self._throttled_periods() <= self._throttled_before and time.monotonic() < deadline_s:
            time.sleep(_PERIOD_US / 1_000_000 / 4)  # the kernel counts at the end of a period, and tells nobody

    def _throttled_periods(self) -> int:
        stats = self._container.stats(stream=False, one_shot=True)
        return int(stats["cpu_stats"]["throttling_data"]["throttled_periods"])

    def _shape(self, kind: str) -> None:
        shape(self._namespace, kind)
        self._undo.append(partial(unshape, self._namespace))

    @property
    def _namespace(self) -> str:
        return str(self._container.attrs["NetworkSettings"]["SandboxKey"])

    def _take_off(self, *, comes_back: bool) -> None:
        """From each of its networks; and back at another address of each."""
        self._container.reload()
        for name, joined in self._container.attrs["NetworkSettings"]["Networks"].items():
            network, address = self._network_of(name), joined["IPAddress"]
            connect = partial(network.connect, self._container, aliases=joined.get("Aliases") or [])
            network.disconnect(self._container)
            # As whom its neighbours know it: they would go on sending to another for seconds.
            self._undo.append(partial(connect, ipv4_address=address, mac_address=joined["MacAddress"]))
            if comes_back:
                connect(ipv4_address=moved_address(address))
                self._undo.append(partial(network.disconnect, self._container))

    def _iptables(self, *words: str) -> None:
        done = self._container.exec_run(["iptables", "-w", *words], user="root")
        if done.exit_code != 0:
            said = done.output.decode(errors="replace").strip()
            expected = "a service with `cap_add: [NET_ADMIN]` and iptables in its image"
            raise StackError(f"iptables in the container of {self.service!r}: {said}; expected {expected}")

    def _witnessed(self) -> dict[str, Any]:
        """What is asked only where it was done."""
        state = self._container.attrs["State"]
        if not state.get("Running") or state.get("Paused"):
            return {}
        match self._doing:
            case Disturbing.LOSE:
                done = self._container.exec_run(["iptables", "-w", "-C", *_DROP], user="root")
                return {"drops": done.exit_code == 0}
            case Disturbing.RATE | Disturbing.DELAY:
                return {"shaped": shaped(self._namespace)}
            case Disturbing.THROTTLE:
                return {"throttled": self._throttled_periods() > self._throttled_before}
            case _:
                return {}

    def _asked(self, what: str) -> AbstractContextManager[None]:
        return in_words(f"the engine {what}: the container of {self.service!r}")


def _same_place(joined: Mapping[str, Any]) -> dict[str, Any]:
    """Of one network: the address there, and the names by which others find it."""
    place = {"Aliases": joined.get("Aliases") or [], "MacAddress": joined.get("MacAddress", "")}
    return {**place, "IPAMConfig": {"IPv4Address": joined["IPAddress"]}}


def state_of(container: Container) -> State:
    """What was last read of it."""
    state, networks = container.attrs["State"], container.attrs.get("NetworkSettings", {}).get("Networks") or {}
    return State(
        id=str(container.id),
        status=str(state.get("Status", "")),
        running=bool(state.get("Running")),
        paused=bool(state.get("Paused")),
        oom_killed=bool(state.get("OOMKilled")),
        exit_code=int(state.get("ExitCode", 0)),
        pid=int(state.get("Pid", 0)),
        started_at=str(state.get("StartedAt", "")),
        health=str((state.get("Health") or {}).get("Status", "")).replace("none", ""),
        addresses=tuple(sorted(one["IPAddress"] for one in networks.values() if one.get("IPAddress"))),
    )


@contextmanager
def in_words(what: str, to_do: str = "see what the engine itself says: `docker info`") -> Iterator[None]:
    """Whatever an engine, or the way to it, refuses. Raises StackError."""
    try:
        yield
    except DockerException as error:
        raise StackError(f"{what} ({_why(error)}); {to_do}") from None
    except (RequestException, OSError) as error:
        gone = "the engine does not answer any more"
        again = "start it, and run this again: what was left is removed then"
        raise StackError(f"{what}: {gone} ({_why(error)}); {again}") from None


def _why(error: Exception) -> str:
    return shortened(" ".join(str(error).split()), _SHOWN_CHARACTERS)
