"""What a completion says of its prompt, as vLLM writes it: an entry for each token, the first of them null.

An entry holds the k likeliest tokens and the prompt's own, so k of them where its own is among the likeliest and k + 1
where it is not: here, where the own token is even, and where it is odd. All is a function of the prompt and of k.
"""

from typing import Any

from fake_router.content import MAX_NUMBER
from faults.form import AboutPrompt

Entry = dict[str, dict[str, Any]]


def prompt_logprobs(about: AboutPrompt) -> list[Entry | None]:
    """The list for one choice; each has the same."""
    return [None, *(_entry(token, about.likeliest) for token in about.tokens[1:])]


def _entry(own: int, likeliest: int) -> Entry:
    others = [(own + 1 + n) % (MAX_NUMBER + 1) for n in range(likeliest)]
    if own % 2 or not likeliest:
        ranked = [(own, likeliest + 1 + own % 5), *zip(others, range(1, likeliest + 1), strict=True)]
    else:
        at = own // 2 % likeliest
        ranked = [*zip([*others[:at], own, *others[at + 1 :]], range(1, likeliest + 1), strict=True)]
    return {str(token): _logprob(token, rank) for token, rank in ranked}


def _logprob(token: int, rank: int) -> dict[str, Any]:
    return {"logprob": -rank / 16, "rank": rank, "decoded_token": f"token_id:{token}"}
