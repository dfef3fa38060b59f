"""What a caller sent: digests of it, to be held against those of what reached the router."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from fake_router.digest import digest_of_body, digest_of_content


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """content: of its prompt, or its messages; None where it holds neither. body: of its bytes; None for a call in
    process, which has none.
    """

    content: int | None
    body: int | None = None


def sent_content(request: Mapping[str, Any]) -> Sent:
    """What a call in process was given."""
    content = request.get("prompt", request.get("messages"))
    return Sent(content=None if content is None else digest_of_content(content))


def sent_body(body: bytes) -> Sent:
    """What was written to a subject's socket; any JSON object."""
    return Sent(content=sent_content(msgspec.json.decode(body)).content, body=digest_of_body(body))
