"""The pages of a survey, drawn from its results."""

from pathlib import Path

from retryproof.exits import CommandError, Exit
from retryproof.folder import write_whole
from signoff.markdown_survey import markdown_of_survey
from signoff.published import load_all
from signoff.report import ReportError
from signoff.survey_page import html_of_survey

MARKDOWN, HTML = "who-retries-what.md", "who-retries-what.html"


def draw(results: Path, docs: Path) -> list[Path]:
    """Both pages; returns where they are. Raises CommandError."""
    try:
        found = load_all(results)
    except (ReportError, OSError) as error:
        raise CommandError(str(error), Exit.USAGE) from None
    if not found:
        raise CommandError(f"no result in {str(results)!r}; expected those of `retryproof survey`", Exit.COULD_NOT_RUN)
    faces = {MARKDOWN: markdown_of_survey(found), HTML: html_of_survey(found)}
    for name, page in faces.items():
        write_whole(docs / name, page)
    return [docs / name for name in faces]
