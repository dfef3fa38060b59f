"""The openai SDK: an OpenAI client, whose objects are handed on."""

import json
import ssl
from typing import Any

import openai
from lines import Lost, Operation, Outcome, arguments, carried, serve

url, ca, options = arguments()
tls = {"verify": ssl.create_default_context(cafile=ca)} if url.startswith("https") else {}
retries = {"max_retries": options["max_retries"]} if "max_retries" in options else {}
strict = {"_strict_response_validation": True} if options.get("strict") else {}
client = openai.OpenAI(
    api_key="sk-retryproof",
    base_url=f"{url}/v1",
    timeout=openai.Timeout(options["read_ms"] / 1000, connect=options["connect_ms"] / 1000),
    http_client=openai.DefaultHttpxClient(**tls) if tls else None,
    **retries,
    **strict,
)


def call(operation: Operation) -> Outcome:
    """What create() returns; of a stream, each object that its iterator yields."""
    asked: dict[str, Any] = json.loads(operation["body"])
    asked["extra_body"] = {"return_token_ids": asked.pop("return_token_ids")}
    asked["extra_headers"] = carried(operation)
    api = client.chat.completions if "messages" in asked else client.completions
    answer = api.create(**asked)
    if not operation["stream"]:
        return {"returned": said(answer)}
    events: list[Any] = []
    try:
        for event in answer:
            events.append(said(event))  # noqa: PERF401  # what had come is kept where it raises
    except Exception as error:
        raise Lost(events=events) from error
    return {"events": events}


def said(value: Any) -> Any:
    """An object of the SDK as JSON; it returns a plain text for what it takes for no JSON."""
    return value.model_dump(mode="json", warnings=False) if hasattr(value, "model_dump") else value


serve(call)
