"""report.html: one file that needs no network. It is drawn in the browser from the data in it; the verdict and the
lines that matter are there without any script.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import msgspec

from signoff.cell_words import versions
from signoff.page_data import data_of_report, data_of_sign_off
from signoff.report import Report
from signoff.sign_off import SignOff

STYLES = {"PASS": "good", "MAY SHIP": "good", "FAIL": "bad", "BLOCK": "bad", "UNKNOWN": "warn", "UNPROVEN": "warn"}


def html_of_report(report: Report, named: str) -> bytes:
    """The page of one examination. named: what its subject was called on the command line."""
    subject = report.subject
    facts = (subject.version or "version unknown", f"promises {subject.promises}", f"depth {report.depth}")
    counts = ", ".join(f"{count} {word}" for word, count in report.counts.items())
    return _page(
        verdict=report.verdict,
        subjects=subject.name,
        sub=f"{', '.join(facts)}; seed {report.seed}; {counts}",
        partial=report.partial,
        matter=(),
        notes=(),
        tool=report.tool,
        data=data_of_report(report, named),
    )


def html_of_sign_off(sign_off: SignOff) -> bytes:
    """The page of base against candidate."""
    counts = ", ".join(f"{count} {change}" for change, count in sign_off.counts.items())
    return _page(
        verdict=sign_off.verdict,
        subjects=f"{sign_off.base.named} → {sign_off.candidate.named}",
        sub=f"{counts}; depth {sign_off.depth}; seed {sign_off.seed}; {versions(sign_off)}",
        partial=sign_off.partial,
        matter=sign_off.matter[1 if sign_off.partial else 0 :],  # why it is not whole stands above them
        notes=sign_off.notes,
        tool=sign_off.tool,
        data=data_of_sign_off(sign_off),
    )


def _page(
    *,
    verdict: str,
    subjects: str,
    sub: str,
    partial: str,
    matter: Iterable[str],
    notes: Iterable[str],
    tool: str,
    data: Mapping[str, Any],
) -> bytes:
    known = {
        "title": escape(f"{verdict}: {subjects}"),
        "verdict": escape(verdict),
        "verdict_class": STYLES[verdict],
        "subjects": escape(subjects),
        "sub": escape(sub),
        "partial": f'<p class="partial">Not whole: {escape(partial)}. No verdict is claimed.</p>' if partial else "",
        "matter": "".join(f"<li>{escape(line)}</li>" for line in matter),
        "notes": "".join(f'<p class="note">Note: {escape(note)}</p>' for note in notes),
        "footer": escape(
            f"{tool}. Finding by finding in report.json, entry by entry in ledger.jsonl, beside this page."
        ),
        "style": part("page.css"),
        "script": part("parts.js") + part("page.js"),
        "data": embedded(data),
    }
    return Template(part("page.html")).substitute(known).encode()


@cache
def part(name: str) -> str:
    """One file of what pages are made of."""
    return (files("signoff") / "page" / name).read_text("utf-8")


def embedded(data: Mapping[str, Any]) -> str:
    """As JSON inside a script element: no text in it can end the element, or begin a comment (HTML s4.12.1.3)."""
    return msgspec.json.encode(data).decode().replace("<", "\\u003c")
