"""A sign-off that is being made: its folder says at every moment how far it is, whatever ends it."""

import contextlib
import datetime as dt
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from retryproof.exits import CommandError, Exit
from retryproof.options import ExamineOptions
from retryproof.sign_off_folder import PATHS, SIDES, SignOffFolder
from retryproof.writing import NOT_FINISHED, why
from signoff.allowances import Allowed
from signoff.earlier import Earlier
from signoff.report import Report
from signoff.reporting import report_of
from signoff.results import Examination
from signoff.sign_off import SignOff
from signoff.signing_off import sign_off_of
from suites.subject import SubjectSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Signing:
    """Both sides, by the names that they have on the command line.

    begun: what stands for a side as long as its folder holds no report. allowed: what is excused. earlier: the base is
    a report of before.
    """

    folder: SignOffFolder
    names: tuple[str, str]
    begun: tuple[Report, Report]
    options: ExamineOptions
    allowed: tuple[Allowed, ...] = ()
    earlier: Earlier | None = None
    today: dt.date = field(default_factory=dt.date.today)

    def write(self, partial: str = "", code: Exit = Exit.COULD_NOT_RUN, *, varying: Collection[str] = ()) -> SignOff:
        """Write what is known by now; partial: why that is not all. varying: cells that tell now this, now that on
        both sides. Raises CommandError.
        """
        base, candidate = (self.folder.report(side) or begun for side, begun in zip(SIDES, self.begun, strict=True))
        sign_off = sign_off_of(
            base if self.earlier is None else self.earlier.report,
            candidate,
            paths=PATHS,
            strict=self.options.strict,
            allowed=self.allowed,
            today=self.today,
            named=self.names,
            earlier=self.earlier is not None,
            notes=() if self.earlier is None else self.earlier.notes,
            varying=varying,
            partial=partial,
            code=code,
        )
        self.folder.write(sign_off)
        return sign_off

    def say_how_far(self) -> None:
        """Whatever ends it now, what a side has written by then is in it."""
        self.write(NOT_FINISHED)

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """While inside, the sign-off is marked as partial; what ends it early is written into it, as far as that can
        be written. Raises CommandError, with where it is.
        """
        self.say_how_far()
        try:
            yield
        except BaseException as error:  # noqa: BLE001  # whatever ends it, what was found is written
            raise self._broken_off(error) from None

    def _broken_off(self, error: BaseException) -> BaseException:
        reason, code = why(error)
        where = ""
        with contextlib.suppress(CommandError):  # what broke it off may well keep it from being written
            self.write(reason, code or Exit.COULD_NOT_RUN)
            where = f"the sign-off so far is in {str(self.folder.path)!r}"
        return error if code is None else CommandError("; ".join(filter(None, (reason, where))), code)


def not_begun(spec: SubjectSpec, options: ExamineOptions) -> Report:
    """What stands for a side that has no report yet."""
    nothing = Examination(spec=spec, items=())
    return report_of(nothing, options.choice, strict=options.strict, seconds=0, partial="not begun")
