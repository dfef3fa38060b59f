"""What an examination has found so far: results as they come, and the runs that they rest on."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from faults.plan import Plan
from signoff.items import Item
from suites.judge import Judgement
from suites.run import Run
from suites.subject import SubjectSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Smallest:
    """The smallest plan on which all that a drawn plan broke is broken too, and the run that shows it."""

    plan: Plan
    run: Run
    judgement: Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One item, the run that stands for it, and what was judged of it.

    varies: it only tells, and told otherwise when it was repeated. smallest: for a drawn plan that failed.
    """

    item: Item
    run: Run
    judgement: Judgement
    varies: bool = False
    smallest: Smallest | None = None

    @property
    def shown(self) -> "Result | Smallest":
        """What a person is shown of it: the smallest plan where there is one."""
        return self.smallest or self


@dataclass(slots=True, kw_only=True)
class Examination:
    """The results so far, by item id, and every run that they may rest on."""

    spec: SubjectSpec
    items: tuple[Item, ...]
    results: dict[str, Result] = field(default_factory=dict)
    lived: dict[str, list[Run]] = field(default_factory=dict)

    def in_order(self) -> list[Result]:
        """The results, in the order of the items."""
        return self.of(self.items)

    def of(self, items: Iterable[Item]) -> list[Result]:
        """The results of these items, in their order."""
        return [self.results[item.id] for item in items if item.id in self.results]

    def number_of(self, result: Result) -> int:
        """Which of the item's runs stands for it, from 1; 0 where none was made."""
        return next((n for n, run in enumerate(self.lived[result.item.id], 1) if run is result.run), 0)


def failed_checks(judgement: Judgement) -> frozenset[str]:
    """The musts that are broken."""
    return frozenset(finding.check for finding in judgement.failures)
