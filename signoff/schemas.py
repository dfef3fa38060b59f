"""The JSON Schemas of reports: of a check, of a sign-off and of a load, from the very types that write and read them.

`python -m signoff.schemas` writes them into docs/.
"""

from pathlib import Path
from typing import Any

import msgspec

from signoff.load_report import LoadReport
from signoff.report import Report
from signoff.sign_off import SignOff

DIALECT = "https://json-schema.org/draft/2020-12/schema"
KINDS: dict[str, type[msgspec.Struct]] = {
    "report.schema.json": Report,
    "signoff.schema.json": SignOff,
    "load.schema.json": LoadReport,
}  # in docs/


def schema_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Its schema. Keys that it does not know are allowed: a newer minor version may have written them."""
    schema = msgspec.json.schema(kind)
    keys = schema["$defs"][kind.__name__]["properties"]
    keys["schema"] = {"const": keys["schema"]["default"]}
    return {"$schema": DIALECT, **schema}


def schema_text(kind: type[msgspec.Struct]) -> str:
    """Its schema, as the file in docs/ has it."""
    return msgspec.json.format(msgspec.json.encode(schema_of(kind), order="sorted"), indent=2).decode() + "\n"


def _write(docs: Path) -> None:
    for name, kind in KINDS.items():
        (docs / name).write_text(schema_text(kind))


if __name__ == "__main__":
    _write(Path(__file__).parent.parent / "docs")
