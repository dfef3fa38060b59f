"""The real Tinker SDK, told on stdin what to do: `python -m suites.tinker_sdk.adapter`. What comes of it goes to
stdout, what the SDK logs to stderr. It ends when stdin does.

Nothing of the SDK is replaced: what a server meets is what every user of the SDK sends it.
"""

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, BinaryIO, assert_never

import msgspec
import tinker
from tinker import types

from suites.tinker.wire import MODEL
from suites.tinker_sdk.orders import (
    AnyAnswer,
    AnyOrder,
    Asking,
    Close,
    Compute,
    Computed,
    NotOpened,
    Open,
    Opened,
    Raised,
    Sample,
    Sampled,
    Sequence,
)

API_KEY = "tml-retryproof"  # the SDK wants one that begins like this


class Adapter:
    """Obeys orders; each answer is one line."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._writing = threading.Lock()
        self._services: dict[int, Any] = {}
        self._samplers: dict[int, Any] = {}

    def obey(self, order: AnyOrder) -> None:
        """Begin it. What takes a while is answered from another thread."""
        match order:
            case Open():
                threading.Thread(target=self._open, args=(order,), daemon=True).start()
            case Sample() | Compute():
                self._ask(order)
            case Close(client=client):
                self._samplers.pop(client, None)
                if (service := self._services.pop(client, None)) is not None:
                    service.holder.close()
            case _:
                assert_never(order)

    def _open(self, order: Open) -> None:
        chosen: dict[str, Any] = {"_client_config": {"use_pyqwest_transport": False}} if order.httpx else {}
        try:
            service = tinker.ServiceClient(
                base_url=order.url, api_key=API_KEY, default_headers=dict(order.headers), **chosen
            )
            self._samplers[order.client] = service.create_sampling_client(base_model=MODEL)
            self._services[order.client] = service
            pyqwest = service.holder.get_client_config().use_pyqwest_transport
        except Exception as error:  # noqa: BLE001  # whatever it raises is what its user would get
            self._say(NotOpened(client=order.client, error=type(error).__name__, says=str(error)))
        else:
            self._say(Opened(client=order.client, pyqwest=pyqwest))

    def _ask(self, order: Asking) -> None:
        sampler = self._samplers[order.client]
        prompt = types.ModelInput.from_ints(list(order.prompt))
        match order:
            case Sample():
                params = types.SamplingParams(
                    max_tokens=order.max_tokens, seed=order.seed, stop=list(order.stop) or None, temperature=1.0
                )
                future = sampler.sample(
                    prompt=prompt,
                    num_samples=order.num_samples,
                    sampling_params=params,
                    include_prompt_logprobs=order.prompt_logprobs,
                    topk_prompt_logprobs=order.topk,
                )
                made: Callable[[Any], AnyAnswer] = partial(_sampled, order.call)
            case Compute():
                future = sampler.compute_logprobs(prompt)
                made = partial(_computed, order.call)
            case _:
                assert_never(order)
        future.add_done_callback(lambda done: self._say(_answer(order.call, done, made)))

    def _say(self, answer: AnyAnswer) -> None:
        with self._writing:
            self._out.write(msgspec.json.encode(answer) + b"\n")
            self._out.flush()


def _answer(call: int, done: "Future[Any]", made: Callable[[Any], AnyAnswer]) -> AnyAnswer:
    try:
        return made(done.result())
    except Exception as error:  # noqa: BLE001  # whatever it raises is what its user would get
        return Raised(call=call, error=type(error).__name__, says=str(error))


def _computed(call: int, result: Any) -> Computed:
    return Computed(call=call, logprobs=tuple(result))


def _sampled(call: int, result: Any) -> Sampled:
    about, topk = result.prompt_logprobs, result.topk_prompt_logprobs
    return Sampled(
        call=call,
        sequences=tuple(
            Sequence(
                tokens=tuple(sequence.tokens),
                logprobs=None if sequence.logprobs is None else tuple(sequence.logprobs),
                stop_reason=str(sequence.stop_reason),
            )
            for sequence in result.sequences
        ),
        prompt_logprobs=None if about is None else tuple(about),
        topk=None if topk is None else tuple(None if row is None else tuple(map(tuple, row)) for row in topk),
    )


def main() -> None:
    """Obey until stdin ends."""
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # whatever prints does not mix with the answers
        adapter = Adapter(out)
        decode = msgspec.json.Decoder(AnyOrder).decode
        for line in sys.stdin.buffer:
            adapter.obey(decode(line))
        out.flush()
        os._exit(0)  # the SDK's thread would go on, and its clients with it


if __name__ == "__main__":
    main()
