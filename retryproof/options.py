"""Options that `check` and `signoff` share, each with the text that teaches it."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fake_router import own_network
from faults.coverage import Depth
from retryproof.command import folder_path, whole_number
from retryproof.exits import CommandError, Exit
from retryproof.where_options import add_where, require_where
from signoff.items import Choice
from signoff.measuring import Measures
from signoff.report import Report
from suites.given import NOTHING_GIVEN, Given
from suites.stacks.compose_file import is_stack
from suites.stacks.stack import join_network_of_stacks
from suites.subject import SubjectError
from suites.under_text import NOTHING_OVER, Under, UnderError, under_of

DEFAULT_OUT = Path("retryproof-out")
MAX_EXAMPLES = 100_000
MAX_LANES = 64
MAX_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamineOptions:
    """What is to be lived through, and where it goes. baseline: a report whose failures are known, and its path. typed:
    what a person calls a subject whose name here is another. ray: on the Ray cluster at that address. jobs: in so many
    processes (None: in one here, or in as many as the cluster has CPUs); lanes: so many runs side by side in each of
    them (None: as suits). measures: what is measured beside the cells.
    """

    choice: Choice
    strict: bool
    out: Path
    quiet: bool
    github: bool = False
    given: Given = NOTHING_GIVEN
    baseline: tuple[Report, str] | None = None
    typed: Mapping[str, str] = field(default_factory=dict)
    ray: str | None = None
    jobs: int | None = None
    lanes: int | None = None
    measures: Measures | None = None
    limit_s: float | None = None

    @property
    def in_this_process(self) -> bool:
        """No other process lives through plans."""
        return self.ray is None and self.jobs in (None, 1)


def add_own_network(parser: argparse.ArgumentParser) -> None:
    """The option of every command that lives through plans."""
    parser.add_argument(
        "--own-network",
        action="store_true",
        help="run in a network namespace of its own, in which only loopback exists: faults that need packet filters "
        "and packet sockets can strike there, also for an ordinary user; subjects are started in it (one that changes "
        "its own user, as nginx does, needs root). Of a stack: on a network of Docker's, which this process joins (as "
        "root): its containers can be taken off it there",
    )


def enter_own_network(options: argparse.Namespace, names: Sequence[str] = ()) -> None:
    """Enter it where it is asked for, for those subjects; before any thread or socket. Raises CommandError (exit
    code 4).
    """
    if not options.own_network:
        return
    try:
        if any(map(is_stack, names)):
            join_network_of_stacks()
        else:
            own_network.enter()
    except SubjectError as error:
        raise CommandError(f"--own-network: {error}", Exit.COULD_NOT_RUN) from None
    except OSError as error:
        raise CommandError(
            f"--own-network: {error}; expected a kernel that allows it to root, or to a user "
            "(sysctl kernel.unprivileged_userns_clone, user.max_net_namespaces)",
            Exit.COULD_NOT_RUN,
        ) from None


def add_examine_options(parser: argparse.ArgumentParser) -> None:
    """The options of a command that examines subjects."""
    _add_choice(parser.add_argument)
    _add_reporting(parser.add_argument)
    add_own_network(parser)
    add_where(parser)
    _add_running(parser.add_argument)


_Add = Callable[..., argparse.Action]


def _add_choice(add: _Add) -> None:
    """Which cells and drawn plans."""
    add(
        "--depth",
        choices=[str(depth) for depth in Depth],
        default=str(Depth.FULL),
        help="core: about 40 cells; full (the default): every fault and 200 drawn plans; deep: every cell and 2,000",
    )
    add(
        "--only",
        metavar="GLOB",
        help="only the cells whose id matches, e.g. 'status/503*' or '*/reused'; then no plans are drawn, unless GLOB "
        "matches drawn/0000 or --examples is given",
    )
    add(
        "--examples",
        type=whole_number(0, MAX_EXAMPLES),
        metavar="N",
        help="how many plans to draw, instead of what --depth says",
    )
    add(
        "--seed",
        type=whole_number(0, MAX_SEED),
        default=0,
        metavar="N",
        help="the seed of the drawn plans: same seed, same plans (default 0)",
    )


def _add_reporting(add: _Add) -> None:
    """What counts, and where it is told."""
    add("--strict", action="store_true", help="a cell that could not be reached counts as UNKNOWN (exit code 3)")
    add(
        "--out",
        type=folder_path,
        default=DEFAULT_OUT,
        metavar="DIR",
        help=f"where reports go; each run makes a folder of its own in it (default {DEFAULT_OUT}/)",
    )
    add(
        "--github",
        action="store_true",
        help="in GitHub Actions: annotations of what fails and what warns (ten of each at most: GitHub shows no "
        "more), and report.md in the summary of the step",
    )
    add("--quiet", action="store_true", help="print nothing but errors; the exit code and the report say the rest")


def _add_running(add: _Add) -> None:
    """How it is lived through."""
    add(
        "--lanes",
        type=whole_number(1, MAX_LANES),
        metavar="N",
        help="how many runs go on side by side in each process (default: 16 on fresh instances, 8 on shared ones; on "
        "one that runs already always 1); fewer where the machine has better things to do",
    )
    add(
        "--under",
        action=_Once,
        type=_under,
        default=NOTHING_OVER,
        metavar="TOXICS",
        help="live through everything behind a real Toxiproxy. latency=20,jitter=10, bandwidth=100 (KB/s) or "
        "slicer=64,delay=50 (bytes, us) is laid over the catalogue ([,stream=upstream|downstream|both]); reset_peer, "
        "timeout, limit_data, slow_close or down is itself the fault, set at each point of the exchange; + joins them",
    )
    add(
        "--draw-toxics",
        action="store_true",
        help="drawn plans draw toxics of a real Toxiproxy too: over them, and as their faults (no cell changes)",
    )


class _Once(argparse.Action):
    """Refuses a second value, which would replace the first without a word."""

    def __call__(
        self, _parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object, _option: object = None
    ) -> None:
        if getattr(namespace, self.dest) != self.default:
            raise argparse.ArgumentError(self, "stands twice; expected it once, several toxics joined by +")
        setattr(namespace, self.dest, values)


def _under(text: str) -> Under:
    try:
        return under_of(text)
    except UnderError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def examine_options(options: argparse.Namespace, names: Sequence[str], given: Given = NOTHING_GIVEN) -> ExamineOptions:
    """What these options say of those subjects. Raises CommandError (exit code 4) for a network or a Ray that cannot
    be had, and (2) for what does not go together, such as toxics that no plan could draw.
    """
    require_where(options)
    stacks = [name for name in names if is_stack(name)]
    if stacks and options.own_network and (options.under != NOTHING_OVER or options.draw_toxics):
        raise CommandError(
            f"--own-network of {stacks[0]!r} with toxics; expected one of them: our Toxiproxy is on loopback",
            Exit.USAGE,
        )
    enter_own_network(options, names)
    choice = Choice(
        depth=Depth(options.depth),
        only=options.only,
        examples=options.examples,
        seed=options.seed,
        under=options.under,
        toxics=options.draw_toxics,
    )
    if choice.toxics and not choice.drawn:
        raise CommandError("--draw-toxics where no plan is drawn; expected --examples N, or other cells", Exit.USAGE)
    return ExamineOptions(
        choice=choice,
        strict=options.strict,
        out=options.out,
        quiet=options.quiet,
        github=options.github,
        given=given,
        ray=options.ray,
        jobs=options.jobs,
        lanes=options.lanes,
    )
