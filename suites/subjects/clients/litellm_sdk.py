"""The litellm SDK: litellm.completion() of an OpenAI-compatible server, whose objects are handed on."""

import json
import os
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would fetch one from the network
os.environ["LITELLM_MODE"] = "PRODUCTION"

import httpx
import litellm
from lines import Lost, Operation, Outcome, arguments, carried, serve

url, ca, options = arguments()
litellm.telemetry = False
if url.startswith("https"):
    litellm.ssl_verify = ca
timeout = httpx.Timeout(options["read_ms"] / 1000, connect=options["connect_ms"] / 1000)


def call(operation: Operation) -> Outcome:
    """What completion() returns; of a stream, each object that its iterator yields."""
    asked: dict[str, Any] = json.loads(operation["body"])
    asked["extra_body"] = {"return_token_ids": asked.pop("return_token_ids")}
    asked["extra_headers"] = carried(operation)
    asked["model"] = f"openai/{asked['model']}"
    answer = litellm.completion(
        **asked, api_base=f"{url}/v1", api_key="sk-retryproof", timeout=timeout, **options.get("more", {})
    )
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
    """An object of the SDK as JSON."""
    return value.model_dump(mode="json", warnings=False) if hasattr(value, "model_dump") else value


serve(call)
