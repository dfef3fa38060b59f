"""What an examination lives through: the cells of the catalogue, and plans drawn from a seed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from faults.catalogue import LETS_PASS, uncatalogued
from faults.coverage import Depth
from faults.plan import Plan
from suites.attempts import view_in
from suites.cells import Cell, all_cells
from suites.fitting import cells_for
from suites.futures.suite import chooses_futures
from suites.reach import Machine
from suites.run import Promise
from suites.subject import SubjectSpec
from suites.under_text import NOTHING_OVER, Under

TOLD_TIMES = 5  # a cell that only tells is repeated, to see whether it varies


EXAMPLES = {Depth.CORE: 0, Depth.FULL: 200, Depth.DEEP: 2_000}  # how many plans are drawn at each depth
SCRIPTS = {Depth.CORE: 0, Depth.FULL: 30, Depth.DEEP: 1_000}  # and how many scripts, for who promises futures


class NothingToDoError(ValueError):
    """The options choose no cell and no plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A cell, or a drawn plan; with the plan that is lived through, `times` times."""

    id: str
    plan: Plan
    cell: Cell | None = None
    times: int = 1

    @property
    def faults(self) -> tuple[str, ...]:
        """The ids of all faults in the plan, each once, in the plan's order."""
        return self.plan.faults or (LETS_PASS.id,)

    @property
    def tells(self) -> bool:
        """A fault of the plan leaves it open what the forwarder knew: its decision is recorded, not judged."""
        view = view_in(self.plan, 1)  # whatever the time-out is: a cause that does not show does so in none
        return any(not view.met(fault).shows_its_cause for fault in self.faults)

    def dimensions(self) -> dict[str, Any]:
        """The dimensions of the row, for reports."""
        if self.cell is None:
            return {
                "drawn": True,
                "operations": len(self.plan.operations),
                "upstreams": self.plan.upstreams,
                "tls": self.plan.tls,
            }
        return {
            "reused": self.cell.reused,
            "segments": self.cell.segments,
            "body_bytes": self.cell.body_bytes,
            "streaming": self.cell.form.stream,
            "api": self.cell.form.api.value,
            "leaves": self.cell.leaves,
            "upstreams": self.cell.upstreams,
            "tls": self.plan.tls,
            "twin": self.cell.twin,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which items are wanted. examples None: what the depth says, or none where `only` chooses cells. toxics: plans
    draw them too. futures: what promises them is led through their suite.
    """

    depth: Depth = Depth.FULL
    only: str | None = None
    examples: int | None = None
    seed: int = 0
    under: Under = NOTHING_OVER
    toxics: bool = False
    futures: bool = True

    @property
    def toxiproxy(self) -> bool:
        """Toxiproxy is needed."""
        return self.under.toxiproxy or self.toxics

    @property
    def scripts(self) -> int:
        """How many scripts of futures are drawn."""
        return SCRIPTS[self.depth] if self.examples is None else self.examples

    @property
    def drawn(self) -> int:
        """How many plans are drawn; none where a toxic is itself the fault."""
        if self.under.poison is not None:
            return 0
        rows_alone = self.only is not None and not fnmatchcase("drawn/0000", self.only)
        if self.examples is None:
            return 0 if rows_alone else EXAMPLES[self.depth]
        scripts_are_meant = rows_alone and chooses_futures(self.only)
        return 0 if scripts_are_meant else self.examples


def may_be_chosen(only: str) -> bool:
    """Some choice has rows that this glob matches."""
    drawn = (f"drawn/{number:04}" for number in range(EXAMPLES[Depth.DEEP]))
    ids = (*(cell.id for cell in all_cells()), *drawn)
    return chooses_futures(only) or any(fnmatchcase(id_, only) for id_ in ids)


def wants_futures(choice: Choice, specs: Sequence[SubjectSpec]) -> bool:
    """The suite of futures has its rows: they all promise them."""
    promised = all(spec.facts.promises is Promise.FUTURES for spec in specs)
    return choice.futures and promised and chooses_futures(choice.only)


def chosen_items(choice: Choice, specs: Sequence[SubjectSpec], machine: Machine) -> tuple[Item, ...]:
    """The items of that choice, the same ones for each of these subjects. Raises NothingToDoError when it leaves none.

    Cells that a subject cannot reach are among them, plans that one of them cannot reach are not drawn.
    """
    cells = cells_for(specs, choice.depth, choice.under)
    items = [cell_item(cell) for cell in cells]
    items += _drawn_items(choice, specs, machine) if choice.drawn else []
    if choice.only is not None:
        items = [item for item in items if fnmatchcase(item.id, choice.only)]
    if not items and not wants_futures(choice, specs):
        why = next(filter(None, map(uncatalogued, (choice.only or "").split("/"))), "`retryproof faults` lists them")
        raise NothingToDoError(
            f"--only {choice.only!r} matches no cell at --depth {choice.depth}; "
            f"expected a glob over cell ids such as {cells[0].id!r} or 'status/503*' ({why})"
        )
    return tuple(items)


def _drawn_items(choice: Choice, specs: Sequence[SubjectSpec], machine: Machine) -> list[Item]:
    from suites.draw import drawn_plans  # hypothesis takes a while to import

    plans = drawn_plans(
        specs,
        machine,
        examples=choice.drawn,
        seed_number=choice.seed,
        depth=choice.depth,
        under=choice.under.overlays,
        toxics=choice.toxics,
    )
    return [Item(id=f"drawn/{number:04}", plan=plan) for number, plan in enumerate(plans)]


def cell_item(cell: Cell) -> Item:
    """That cell, lived through as often as what it can show asks for."""
    item = Item(id=cell.id, plan=cell.plan, cell=cell)
    return replace(item, times=TOLD_TIMES) if item.tells else item
