"""Dials: attempts that are seen before there is a connection, by a packet witness, a name server, or a fault alone."""

from dataclasses import dataclass, field

from fake_router.entries import Asked, Dialled, Witness
from suites.attempts import Attempt, Strike


@dataclass(slots=True)
class Dials:
    """What is known of them, one upstream apart from the other. Attempts are named by their place in `attempts`, to
    which each new one is added.

    struck: the fault of each upstream that strikes whoever dials it. dropped: by upstream and peer's port, the dials
    whose SYN was dropped.
    """

    attempts: list[Attempt]
    struck: dict[int, Strike] = field(default_factory=dict)
    dropped: dict[tuple[int, int], int] = field(default_factory=dict)
    _witnessed: set[int] = field(default_factory=set)  # upstreams whose dials were seen one by one
    _asked: dict[int, int] = field(default_factory=dict)  # upstream -> the attempt that its name was asked for

    def dialled(self, entry: Dialled) -> None:
        """A packet witness has seen one."""
        self._witnessed.add(entry.upstream)
        self.attempts.append(
            Attempt(
                operation=None,
                start=entry.seq,
                upstream=entry.upstream,
                strikes=self._strikes(entry.upstream),
                dialled_refused=entry.refused,
                entries=(entry.seq,),
            )
        )
        if not entry.refused:
            self.dropped[entry.upstream, entry.peer_port] = len(self.attempts) - 1

    def asked(self, entry: Asked) -> None:
        """A resolver may ask several times for one dial: the first question begins an attempt, and nobody counted
        those that follow.
        """
        place = self._asked.get(entry.upstream)
        if place is not None:
            self.attempts[place] = self.attempts[place].noted(entry.seq)
            return
        self._asked[entry.upstream] = len(self.attempts)
        self.attempts.append(
            Attempt(
                operation=None,
                start=entry.seq,
                upstream=entry.upstream,
                strikes=self._strikes(entry.upstream),
                exactly_one=False,
                entries=(entry.seq,),
            )
        )

    def unseen(self) -> list[Attempt]:
        """For each upstream whose fault has struck, those that nobody saw one by one, as one attempt."""
        return [
            Attempt(
                operation=None,
                start=strike.striking,
                upstream=upstream,
                strikes=(strike,),
                placed=False,
                exactly_one=False,
                entries=(strike.striking, strike.struck),
            )
            for upstream, strike in self.struck.items()
            if strike.struck is not None
            and strike.witness not in (Witness.QUESTION, Witness.HELD)
            and (upstream not in self._witnessed or strike.witness is not Witness.PACKET)
        ]

    def _strikes(self, upstream: int) -> tuple[Strike, ...]:
        return (self.struck[upstream],) if upstream in self.struck else ()
