"""`retryproof load`: many operations at once through a subject, judged by the ledgers of its routers."""

import argparse
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec
from rich.console import Console

from fake_router.service import FORMS, INSTANT, Service, service_in
from faults.mix import Mix, MixError, load_mix
from faults.under import Hop, Overlay
from retryproof.command import EXIT_CODES, Command, file_path, folder_path, whole_number
from retryproof.exits import CommandError, Exit
from retryproof.folder import stamped, write_whole
from retryproof.load_asked import Asked
from retryproof.load_face import LiveLine, print_plan, print_report
from retryproof.loading import load_report
from retryproof.options import DEFAULT_OUT, MAX_SEED
from retryproof.output import say
from retryproof.terminal import console, print_line
from retryproof.url_options import add_url_options, given_in
from retryproof.where_options import add_where, require_where
from signoff.load_page import html_of_load
from signoff.load_report import LoadReport
from suites.load.asked import MAX_IN_FLIGHT, MAX_OPERATIONS, Callers
from suites.load.stairs import MOST_STAIRS
from suites.load.target import NoTargetError, target_named
from suites.load.terms import NO_TERMS
from suites.subject import SubjectError
from suites.under_text import UnderError, under_of

_EXITS = {"PASS": Exit.PASS, "FAIL": Exit.FAIL, "UNKNOWN": Exit.UNKNOWN}
_DURATION = re.compile(r"([0-9]{1,6})(s|m|h)")
_SECONDS = {"s": 1, "m": 60, "h": 3600}

_JOBS = (
    "callers are dealt out over N worker processes, with the same result (default: they are processes of this command; "
    "with --ray as many as the cluster has CPUs)"
)

_DESCRIPTION = """\
Hold many operations in flight through SUBJECT, before fake routers that serve
them at once, hold them, or take their time. What callers were told is held
against the ledgers: no operation executed twice, none lost, no failure that
lies. `reference` is the server of the reference forwarder here."""

_EPILOG = f"""\
examples:
  retryproof load reference --in-flight 1024
  retryproof load reference --in-flight 512,4096 --mode held
  retryproof load reference --in-flight 32768 --mode engine:2048,5
  retryproof load nginx --in-flight 1000 --mode burst
  retryproof load reference --in-flight 200 --for 10m           a soak
  retryproof load reference --in-flight 4096 --ramp 4 --for 2m    512 to 4,096
  retryproof load mine.toml --in-flight 500 --faults mix.toml

more than one machine:
  retryproof load http://10.0.0.5:8000 --listen 10.0.0.1:9000 --speaks tinker
      --promises futures --in-flight 100000 --ray auto

modes:
  instant            every operation is answered as soon as it has come
  held               none is answered until all are in flight
  burst              the same, and then all are answered in one go
  engine:C,S         C at a time, S seconds each; the others queue

{EXIT_CODES}"""


def _options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("subject", metavar="SUBJECT", help="a server: a built-in name, a TOML file, or the URL of one that runs")
    add(
        "--in-flight",
        type=_levels,
        default=(64,),
        metavar="N[,N...]",
        help="operations that are in flight at once (default 64); several: one load after the other",
    )
    add("--operations", type=whole_number(1, MAX_OPERATIONS), metavar="N", help="operations in all (default: as suits)")
    add("--mode", type=_mode, default=INSTANT, metavar="MODE", help=f"how the routers serve: {FORMS} (default instant)")
    add(
        "--callers",
        choices=[str(callers) for callers in Callers],
        help="plain: a request, and its answer; sdk: a submit, then polls that are abandoned and repeated (default: as "
        "the subject speaks)",
    )
    process = whole_number(1, 256)
    add("--processes", type=process, metavar="N", help="caller processes (default: as many as it takes)")
    add("--instances", type=process, metavar="N", help="instances of the subject (default: as many as it takes)")
    add("--routers", type=process, metavar="N", help="router processes (default: as many as it takes)")
    add("--faults", type=file_path, metavar="MIX.toml", help="operations meet faults, at the rate that this mix says")
    add("--seed", type=whole_number(0, MAX_SEED), default=0, metavar="N", help="which operations meet which fault")
    add(
        "--under",
        type=_under,
        default=(),
        metavar="TOXICS",
        help="between subject and routers lies a real Toxiproxy: latency=20,jitter=10, bandwidth=100 or "
        "slicer=64,delay=50; + joins them",
    )
    add("--for", dest="for_s", type=_duration, metavar="TIME", help="go on for so long: 30s, 10m, 2h")
    add(
        "--ramp",
        type=whole_number(1, MOST_STAIRS),
        default=1,
        metavar="N",
        help="within that time, in flight goes up in N stairs: the last is all of it, each before it half of the next",
    )
    seconds = whole_number(1, 86_400)
    add("--patience", type=seconds, default=45, metavar="S", help="a poll that takes longer is abandoned (default 45)")
    add("--give-up", type=seconds, default=600, metavar="S", help="an operation that takes longer is lost (600)")
    add_where(parser, _JOBS)
    add_url_options(parser)
    add(
        "--out",
        type=folder_path,
        default=DEFAULT_OUT,
        metavar="DIR",
        help=f"where reports go; each run makes a folder of its own in it (default {DEFAULT_OUT}/)",
    )
    add("--json", action="store_true", help="print report.json, and nothing else")
    add("--quiet", action="store_true", help="print nothing but errors; the exit code and the report say the rest")
    parser.set_defaults(own_network=False)


def _levels(text: str) -> tuple[int, ...]:
    number = whole_number(1, MAX_IN_FLIGHT)
    return tuple(number(part) for part in text.split(","))


def _mode(text: str) -> Service:
    try:
        return service_in(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _under(text: str) -> tuple[Overlay, ...]:
    try:
        under = under_of(text)
    except UnderError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if under.poison is not None or any(one.hop is not Hop.ROUTER for one in under.overlays):
        raise argparse.ArgumentTypeError(f"{text!r}; expected toxics that lose nothing, on the way to the routers")
    return under.overlays


def _duration(text: str) -> float:
    match = _DURATION.fullmatch(text)
    if match is None or not (seconds := int(match[1]) * _SECONDS[match[2]]) or seconds > 86_400:
        raise argparse.ArgumentTypeError(f"{text!r}; expected a time such as 30s, 10m or 2h, to 24h")
    return float(seconds)


def _run(options: argparse.Namespace) -> Exit:
    out = console(quiet=options.quiet or options.json)
    require_where(options)
    asked = _asked(options, out)
    folder = options.out / stamped(options.subject)
    if asked.file.load == NO_TERMS and not asked.file.url:
        say(f"{asked.file.spec.facts.name} has no [load] terms in its file: its time-outs are those of checks")
    live = LiveLine(out)
    with _new(folder) as begin:
        try:
            report = load_report(asked, live, partial(_write, folder), print_plan(out), begin=begin)
        finally:
            live.stop()
    if options.json:
        console(quiet=options.quiet).print(_written(report).decode(), soft_wrap=True, markup=False, end="")
    print_report(out, report)
    print_line(out, f"report: {folder / 'report.json'}")
    if report.partial:
        raise CommandError(report.partial, Exit.INTERRUPTED)
    return _EXITS[report.verdict]


def _asked(options: argparse.Namespace, out: Console) -> Asked:
    """Raises CommandError for what cannot be had."""
    given = given_in(options, [options.subject])
    try:
        file = target_named(options.subject, given)
    except (NoTargetError, ValueError) as error:
        raise CommandError(str(error), Exit.USAGE) from None
    except SubjectError as error:
        raise CommandError(str(error), Exit.COULD_NOT_RUN) from None
    return Asked(
        file=file,
        levels=options.in_flight,
        operations=options.operations,
        service=options.mode,
        callers=None if options.callers is None else Callers(options.callers),
        processes=options.processes,
        instances=options.instances,
        routers=options.routers,
        mix=_mix(options.faults),
        seed=options.seed,
        under=options.under,
        console=out,
        for_s=options.for_s,
        patience_s=float(options.patience),
        give_up_s=float(options.give_up),
        stairs=options.ramp,
        jobs=options.jobs,
        ray=options.ray,
    )


def _mix(path: Path | None) -> Mix | None:
    if path is None:
        return None
    try:
        return load_mix(path)
    except MixError as error:
        raise CommandError(f"--faults: {error}", Exit.USAGE) from None
    except OSError as error:
        says = f"cannot read --faults {str(path)!r}: {error.strerror}; expected a mix of faults in TOML"
        raise CommandError(says, Exit.USAGE) from None


@contextmanager
def _new(folder: Path) -> Iterator[Callable[[LoadReport], None]]:
    """A folder that cannot be written is known before the work; one in which no more was written than at the beginning
    is gone after it. Yields what writes that.
    """
    path, first = folder / "report.json", b""

    def begin(report: LoadReport) -> None:
        nonlocal first
        first = _written(report)
        write_whole(path, first)

    write_whole(path, first)
    try:
        yield begin
    finally:
        if path.read_bytes() == first:
            shutil.rmtree(folder)


def _write(folder: Path, report: LoadReport) -> None:
    write_whole(folder / "report.json", _written(report))
    write_whole(folder / "report.html", html_of_load(report))


def _written(report: LoadReport) -> bytes:
    return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"


COMMAND = Command(name="load", description=_DESCRIPTION, epilog=_EPILOG, options=_options, run=_run)
