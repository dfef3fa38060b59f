"""A body of a user's own for each operation: JSON with placeholders, in which the operation's number rides."""

import json
from pathlib import Path

from fake_router.content import prompt_text, prompt_tokens
from suites.workload import MODEL

TOKENS, TEXT, MODEL_NAME = "{prompt_tokens}", "{prompt_text}", "{model}"
EXPECTED = (
    f"JSON with {TOKENS} (a list of token ids) or {TEXT} (inside a JSON string), since the operation's number must "
    f"ride in the content; {MODEL_NAME} is the usual model name"
)


class BodyTemplateError(ValueError):
    """A body that is no template: it is no JSON, or carries no operation."""


def read_template(value: str, here: Path) -> str:
    """The template that a `body` key names: its text, or the path of its file, from that folder.

    Raises BodyTemplateError, and OSError for a file that cannot be read.
    """
    text = value if value.lstrip().startswith("{") else (here / value).read_text("utf-8")
    if TOKENS not in text and TEXT not in text:
        raise BodyTemplateError(f"{text!r}; expected {EXPECTED}")
    try:
        json.loads(filled(text, 1))
    except ValueError as error:
        raise BodyTemplateError(f"{text!r} ({error}); expected {EXPECTED}") from None
    return text


def filled(template: str, operation: int) -> bytes:
    """The body of that operation."""
    meanings = {TOKENS: json.dumps(prompt_tokens(operation)), TEXT: prompt_text(operation), MODEL_NAME: MODEL}
    for placeholder, meaning in meanings.items():
        template = template.replace(placeholder, meaning)
    return template.encode()
