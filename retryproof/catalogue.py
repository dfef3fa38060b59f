"""What is said of a fault, in words: for the terminal, and for the catalogue's page."""

import json
from collections.abc import Iterator

from faults.acts import needs_tcp, needs_tls
from faults.catalogue import CATALOGUE, DISTURBANCES, POISONS
from faults.disturbance import Disturb
from faults.evidence import REFERENCE_CONTRACT
from faults.fault import Fault
from faults.picture import drawn
from faults.plan import Plan, PlannedOperation
from faults.plan_json import plan_to_json
from faults.poison import Poison
from faults.under import behind, why_otherwise
from faults.vocabulary import Class, Phase, Replied

CONTRACT_MARK = "*"
CONTRACT_SAYS = f"{CONTRACT_MARK} SAFE for a subject whose [contract] names that answer as not accepted"
COMMAND = "retryproof faults --write"
_MAY = {
    Class.SAFE: "may be sent again",
    Class.AMBIGUOUS: "must not be sent again",
    Class.FINAL: "must not be sent again",
}


def by_phase() -> dict[Phase, list[Fault]]:
    """The whole catalogue, in wire order, and the toxics of Toxiproxy; a phase without a fault is left out."""
    phases: dict[Phase, list[Fault]] = {phase: [] for phase in Phase}
    for fault in (*CATALOGUE.values(), *POISONS.values(), *DISTURBANCES.values()):
        phases[fault.phase].append(fault)
    return {phase: faults for phase, faults in phases.items() if faults}


def facts_of(fault: Fault) -> str:
    """Whether it was received, accepted and executed."""
    truth = fault.truth
    return "/".join("yes" if fact else "no" for fact in (truth.received, truth.accepted, truth.executed))


def short_class(fault: Fault) -> str:
    """Its class, marked where a contract makes it another."""
    return f"{fault.class_under()}{CONTRACT_MARK if _differs(fault) else ''}"


def explained(fault: Fault) -> list[tuple[str, str]]:
    """Everything that is known of it, but for the picture."""
    truth = fault.truth
    facts = {"received": truth.received, "accepted": truth.accepted, "executed": truth.executed}
    return [
        ("fault", fault.id),
        ("happens", fault.says),
        ("phase", str(fault.phase)),
        ("truth", ", ".join(f"{'' if fact else 'not '}{name}" for name, fact in facts.items())),
        ("replied", "nothing" if truth.replied is Replied.NOTHING else f"{truth.replied.name.lower()} reply"),
        ("evidence", evidence_text(fault)),
        ("class", f"{_class_text(fault)}: {_MAY[fault.class_under()]}"),
        ("behind Toxiproxy", _behind_text(fault)),
        ("authority", fault.authority),
        ("twin", fault.twin or f"none ({fault.no_twin})"),
        ("row", ", ".join(fault.rows)),
        ("try it", _try(fault)),
    ]


def _try(fault: Fault) -> str:
    """How one lives through it: its cells, or a plan where it has none."""
    if isinstance(fault.act, Poison):
        return f"retryproof check --under {fault.act.toxic} --only '*/{fault.id}/*'"
    if isinstance(fault.act, Disturb):
        return f"retryproof check --stack vllm --only '*/{fault.id}/*'"
    if fault.id in CATALOGUE:
        return f"retryproof check --only '*/{fault.id}/*'"
    plan = Plan(operations=(PlannedOperation(faults=(fault.id,)),))
    return f"retryproof replay PLAN.json, with {json.dumps(plan_to_json(plan))} in it"


def _behind_text(fault: Fault) -> str:
    """What is seen from there, where that is something else."""
    if isinstance(fault.act, Poison):
        return "it is what Toxiproxy does"
    seen = behind(fault, tls=needs_tls(fault.act), slower=0.0)
    if seen.evidence == fault.evidence:
        return "the same"
    return f"{_seen_text(seen)}: {why_otherwise(fault.act)}"


def _seen_text(seen: Fault) -> str:
    """In a table: what is seen, and what that proves; or that it only tells."""
    return f"{evidence_text(seen)}, {seen.class_under() if seen.shows_its_cause else 'tells'}"


def evidence_text(fault: Fault) -> str:
    """What the forwarder has in hand."""
    return " ".join(filter(None, (str(fault.evidence.sight), str(fault.evidence.status or ""))))


def _differs(fault: Fault) -> bool:
    """Whether a contract changes what it proves."""
    return fault.class_under() is not fault.class_under(REFERENCE_CONTRACT)


def _class_text(fault: Fault) -> str:
    alone, under = fault.class_under(), fault.class_under(REFERENCE_CONTRACT)
    return f"{alone}; {under} under a contract" if _differs(fault) else str(alone)


_HEAD = f"""\
# The catalogue

Written by `{COMMAND} docs/catalogue.md` from the data in `faults/`; do not edit it. {len(CATALOGUE)} faults, in wire
order. The facts are what the router did: received / accepted / executed, and how much of a reply it sent. The class is
what the evidence proves: SAFE may be sent again, AMBIGUOUS and FINAL must not. `retryproof faults ID` explains one,
with its picture; here each phase shows that of its first fault.

\\{CONTRACT_SAYS}."""


def page() -> str:
    """The catalogue as a page in Markdown: a table for each phase, and the picture of its first fault."""
    lines = [_HEAD]
    for phase, faults in by_phase().items():
        lines += ["", f"## {phase}", ""]
        lines += ["| fault | happens | rcvd/acc/exec | replied | evidence | class | twin | row |"]
        lines += ["|---|---|---|---|---|---|---|---|", *map(_row, faults)]
        lines += ["", f"`{faults[0].id}`:", "", "```", *drawn(faults[0].act), "```"]
    return "\n".join([*lines, *_behind_toxiproxy()]) + "\n"


_BEHIND = """\
## Behind Toxiproxy

What a forwarder sees of these faults with Toxiproxy between it and its routers. All others look the same, and the
router's facts are the same for all. A must holds there as anywhere; a safe retry that is no longer made is no warning
where the evidence is no proof any more."""


def _behind_toxiproxy() -> Iterator[str]:
    yield from ("", *_BEHIND.splitlines(), "")
    yield "| fault | without it | behind it | behind it, over TLS | why |"
    yield "|---|---|---|---|---|"
    for fault in CATALOGUE.values():
        seen = [behind(fault, tls=tls, slower=0.0) for tls in (False, True)]
        plain, over_tls = (
            "-" if needs(fault.act) else _seen_text(one) for needs, one in zip(_NEEDS, seen, strict=True)
        )
        if any(one.evidence != fault.evidence for one in seen):
            yield f"| `{fault.id}` | {_seen_text(fault)} | {plain} | {over_tls} | {why_otherwise(fault.act)} |"


_NEEDS = (needs_tls, needs_tcp)  # what has no cell on the other way


def _row(fault: Fault) -> str:
    twin = f"`{fault.twin}`" if fault.twin else "-"
    class_ = short_class(fault).replace(CONTRACT_MARK, rf"\{CONTRACT_MARK}")
    cells = (f"`{fault.id}`", fault.says, facts_of(fault), fault.truth.replied.name.lower(), evidence_text(fault))
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in (*cells, class_, twin, ", ".join(fault.rows))) + " |"
