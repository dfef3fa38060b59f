"""`--mix FILE`, and what is measured of both sides of a sign-off."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from faults.mix import Mix, MixError, load_mix
from retryproof.exits import CommandError, Exit
from retryproof.options import ExamineOptions
from retryproof.sessions import require_subject
from signoff.measuring import measures_of
from suites.reach import Machine

HELP = (
    "the mix of faults under which work lost and doubled is measured, in TOML (docs/signoff.md), instead of the one "
    "that the field notes weigh; measured also where cells are chosen"
)


def given_mix(path: Path | None, options: ExamineOptions) -> Mix | None:
    """The mix in that file. Raises CommandError (exit code 2) for what is none, cannot be read, or cannot be had."""
    if path is None:
        return None
    if options.choice.toxiproxy:
        raise CommandError("--mix beside toxics; expected one of them: they change what a fault does", Exit.USAGE)
    try:
        return load_mix(path)
    except MixError as error:
        raise CommandError(f"--mix: {error}", Exit.USAGE) from None
    except OSError as error:
        raise CommandError(
            f"cannot read --mix {str(path)!r}: {error.strerror}; expected a mix of faults in TOML", Exit.USAGE
        ) from None


def with_measures(options: ExamineOptions, names: Sequence[str], mix: Mix | None) -> ExamineOptions:
    """The same, with what is measured of each of these subjects beside its cells."""
    specs = [require_subject(name, options.given) for name in names]
    return replace(options, measures=measures_of(options.choice, specs, Machine.here(), mix))
