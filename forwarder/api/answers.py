"""Answers in JSON; each error says what it is, and its message what was expected."""

import orjson
from starlette.responses import Response

JSON_TYPE = "application/json"


class RefusedError(Exception):
    """A request that is answered with an error: its status, what it is in one word, and what was expected."""

    def __init__(self, status: int, kind: str, says: str) -> None:
        super().__init__(says)
        self.status = status
        self.kind = kind
        self.says = says


def answer(content: object, status: int = 200) -> Response:
    """This content as JSON."""
    return Response(orjson.dumps(content), status_code=status, media_type=JSON_TYPE)


def refusal(status: int, kind: str, says: str, **more: object) -> Response:
    """An error: {"error": {"type", "message", ...}}."""
    return answer({"error": {"type": kind, "message": says, **more}}, status)
