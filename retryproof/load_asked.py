"""What the options of a load say, and the loads that this amounts to."""

from dataclasses import asdict, dataclass

from rich.console import Console

from fake_router.service import Held, Service
from faults.mix import Mix
from faults.under import Overlay
from suites.load.asked import Callers, Load
from suites.load.limits import Wanted
from suites.load.target import callers_of
from suites.subject_text import SubjectFile

# Of one operation in the subject: its caller's and its router's. A poll that is abandoned leaves one beside the next.
SOCKETS = {Callers.PLAIN: 2.0, Callers.SDK: 2.25}
ROUNDS = 4  # operations of each caller where nobody has said how many and none is held


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the options say. operations: None, as suits; callers: None, as the subject speaks."""

    file: SubjectFile
    levels: tuple[int, ...]
    operations: int | None
    service: Service
    callers: Callers | None
    processes: int | None
    instances: int | None
    routers: int | None
    mix: Mix | None
    seed: int
    under: tuple[Overlay, ...]
    console: Console
    for_s: float | None
    patience_s: float
    give_up_s: float
    stairs: int = 1
    jobs: int | None = None
    ray: str | None = None

    def load(self, in_flight: int) -> Load:
        """One of them. Raises ValueError for numbers that do not go together, NoTargetError for other callers."""
        rounds = 1 if isinstance(self.service, Held) else ROUNDS
        most = 2**31 - 2 if self.for_s else rounds * in_flight
        return Load(
            in_flight=in_flight,
            operations=self.operations or min(most, 100_000_000),
            service=self.service,
            callers=callers_of(self.file, self.callers),
            for_s=self.for_s,
            patience_s=self.patience_s,
            give_up_s=self.give_up_s,
            mix=None if self.mix is None else asdict(self.mix),
            seed=self.seed,
            under=self.under,
            stairs=self.stairs,
        )

    def wanted(self, in_flight: int, workers: int) -> Wanted:
        """What it takes. One that runs already is one, with whatever limits it has. Raises ValueError for more."""
        standing = bool(self.file.url)
        for option, count in (("--instances", self.instances), ("--routers", self.routers)):
            if standing and count not in (None, 1):
                raise ValueError(f"{option} {count} of {self.file.url!r}, which runs already; expected it left out")
        return Wanted(
            in_flight=in_flight,
            callers=self.processes,
            instances=1 if standing else self.instances,
            routers=1 if standing else self.routers,
            sockets=SOCKETS[callers_of(self.file, self.callers)],
            through=2 if self.under else 0,
            workers=workers,
        )
