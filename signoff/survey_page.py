"""who-retries-what.html: all results as one page, drawn in the browser from the data in it."""

from collections.abc import Sequence
from html import escape
from string import Template
from typing import Any

from signoff.cell_words import counted
from signoff.html import embedded, part
from signoff.page_data import Tables
from signoff.published import Mark, Published, PublishedCell
from signoff.survey_table import KINDS, MEANINGS, SIGNS, Row, checks_of, replay, rows_of


def html_of_survey(results: Sequence[Published]) -> bytes:
    """The page; the same for the same results."""
    subjects = {result.subject.partition(":")[0] for result in results}
    known = {
        "sub": escape(f"{counted(len(subjects), 'subject')} in {counted(len(results), 'configuration')}"),
        "footer": escape("Written by `retryproof survey` from results/*.json, which hold all that is said here."),
        "style": part("page.css") + part("survey.css"),
        "script": part("parts.js") + part("survey.js"),
        "data": embedded(_data(results)),
    }
    return Template(part("survey.html")).substitute(known).encode()


def _data(results: Sequence[Published]) -> dict[str, Any]:
    tables = Tables()
    tables.text("")  # number 0, which a script takes for nothing
    rows = rows_of(results)
    drawn = [_row(row, results, tables) for row in rows]
    subjects = [_subject(result, rows, tables) for result in results]
    return {
        "strings": list(tables.texts),
        "rows": drawn,
        "subjects": subjects,
        "marks": {mark: (SIGNS[mark], MEANINGS[mark]) for mark in Mark},
        "checks": checks_of(results),
    }


def _row(row: Row, results: Sequence[Published], tables: Tables) -> list[int]:
    cell = next(cell for result in results for cell in result.cells if cell.id == row.id)
    words = (row.id, row.phase, row.fault, row.dimension, row.says, cell.class_, cell.evidence, cell.truth)
    return [tables.text(word) for word in words]


def _subject(result: Published, rows: Sequence[Row], tables: Tables) -> dict[str, Any]:
    cells = {cell.id: cell for cell in result.cells}
    return {
        "title": f"{result.subject} {result.number}",
        "kind": KINDS[result.kind],
        "version": result.version,
        "promises": result.promises,
        "timeouts": f"connect {result.connect_timeout_ms} ms, read {result.read_timeout_ms} ms",
        "values": result.values,
        "counts": {mark: count for mark, count in result.counts().items() if count},
        "cells": [_cell(result, cells[row.id], tables) if row.id in cells else None for row in rows],
    }


def _cell(result: Published, cell: PublishedCell, tables: Tables) -> list[Any]:
    flags = [word for word, holds in (("varies", cell.varies), ("this machine stalled", cell.stalled)) if holds]
    return [
        tables.text(cell.mark),
        cell.attempts,
        cell.executions,
        tables.text(cell.outcome),
        cell.status,
        tables.text(cell.reason),
        tables.text(", ".join(flags)),
        tables.text(replay(result, cell)),
        [
            [tables.text(each.check), tables.text(each.kind), tables.text(each.verdict), tables.text(each.says)]
            for each in cell.findings
        ],
    ]
