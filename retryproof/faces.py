"""What is drawn from a report beside report.json: the name of each file, and what is in it."""

from collections.abc import Callable

from signoff.html import html_of_report
from signoff.report import Report

# Each is given the report, and what its subject was called on the command line.
FACES: tuple[tuple[str, Callable[[Report, str], bytes]], ...] = (("report.html", html_of_report),)
