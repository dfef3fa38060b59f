"""The anthropic SDK: its client's own post(), which its README shows for paths that it has no method for."""

import json
import ssl
from typing import Any

import anthropic
from lines import Operation, Outcome, arguments, serve

url, ca, options = arguments()
tls = {"verify": ssl.create_default_context(cafile=ca)} if url.startswith("https") else {}
retries = {"max_retries": options["max_retries"]} if "max_retries" in options else {}
client = anthropic.Anthropic(
    api_key="sk-retryproof",
    base_url=url,
    timeout=anthropic.Timeout(options["read_ms"] / 1000, connect=options["connect_ms"] / 1000),
    http_client=anthropic.DefaultHttpxClient(**tls) if tls else None,
    **retries,
)


def call(operation: Operation) -> Outcome:
    """What post() returns: the JSON of the answer."""
    body: Any = json.loads(operation["body"])
    return {"returned": client.post(operation["path"], body=body, cast_to=object)}


serve(call)
