"""What is drawn from a report beside report.json: the name of each file, and what is in it."""

from collections.abc import Callable

from signoff.html import html_of_report
from signoff.junit import junit_of_report
from signoff.markdown import markdown_of_report
from signoff.report import Report

FACES: tuple[tuple[str, Callable[[Report], bytes]], ...] = (
    ("report.html", lambda report: html_of_report(report, report.named)),
    ("report.md", markdown_of_report),
    ("junit.xml", junit_of_report),
)
