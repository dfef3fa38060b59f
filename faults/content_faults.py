"""The faults of a whole 200 whose content is not what was asked for, or not what its head says."""

from faults.answer import Answer
from faults.coverage import CORE, COSTLY, ONCE, REUSED_TOO, in_all_forms, over_tls, segmented, streamed
from faults.fault import RAN, Fault
from faults.vocabulary import Coding, Content, Ending, Point, Side

_RFC_2XX = "RFC 9110 s15.3: a 2xx says that the request was accepted"
_RFC_CODING = "RFC 9110 s12.5.3: the request asked for no coding; s15.3: a 2xx says that it was accepted"

_CONTENTS = (
    ("html-200", Content.HTML, "an HTML page with 200", over_tls(streamed(segmented(CORE)))),
    ("empty-200", Content.EMPTY, "an empty body with 200", CORE),
    ("shape-200", Content.WRONG_SHAPE, "JSON of the wrong shape with 200", CORE),
    ("null-200", Content.NULL, "the JSON value null with 200", REUSED_TOO),
    ("object-200", Content.OBJECT, "an empty JSON object with 200", CORE),
    ("no-choices-200", Content.NO_CHOICES, "a completion without a choice, with 200", REUSED_TOO),
    ("null-choices-200", Content.NULL_CHOICES, "a completion with null in the place of its choices, with 200", ONCE),
    ("error-200", Content.ERROR_OBJECT, "an error object with 200", in_all_forms(CORE)),
    ("no-workers-200", Content.NO_WORKERS, "the body that the contract names for a 503, with 200", ONCE),
    ("type-200", Content.WRONG_TYPE, "the completion, called text/html, with 200", ONCE),
    ("fewer-choices-200", Content.FEWER_CHOICES, "a completion with one choice less than was asked for", ONCE),
    ("more-choices-200", Content.MORE_CHOICES, "a completion with one choice more than was asked for", ONCE),
    ("same-index-200", Content.SAME_INDEX, "a completion with one choice more, all with the index 0", ONCE),
    ("wrong-index-200", Content.WRONG_INDEX, "a completion whose choices have the indices of others", ONCE),
    ("fewer-logprobs-200", Content.FEWER_LOGPROBS, "a completion with a logprob less than it has tokens", ONCE),
    ("nan-logprobs-200", Content.NAN_LOGPROBS, "a completion with NaN among its logprobs", ONCE),
    ("infinite-logprobs-200", Content.INFINITE_LOGPROBS, "a completion with -Infinity among its logprobs", ONCE),
    ("null-logprobs-200", Content.NULL_LOGPROBS, "a completion with null in the place of its logprobs", ONCE),
    ("null-tokens-200", Content.NULL_TOKENS, "a completion with null in the place of its token ids", ONCE),
    ("foreign-200", Content.FOREIGN, "a whole completion, of an operation that nobody has", ONCE),
    ("utf8-200", Content.BAD_UTF8, "a completion with bytes that are no UTF-8", ONCE),
    ("nul-tail-200", Content.NUL_TAIL, "a completion of the right length whose second half is NULs", ONCE),
    ("half-json-200", Content.HALF_JSON, "half a completion, with a Content-Length that says that this is all", ONCE),
    ("aborted-200", Content.ABORTED, "a completion that ends with finish_reason abort", ONCE),
    ("no-reason-200", Content.NO_REASON, "a completion that ends with finish_reason null", ONCE),
    ("no-tokens-200", Content.NO_TOKENS, "a completion without a token and without a text", ONCE),
    ("huge-200", Content.HUGE, "a completion with 100 MB of white space behind it", COSTLY),
)
_CODINGS = (
    ("gzip", "the completion in gzip", Coding.GZIP, None, None),
    ("gzip-cut", "half of the completion in gzip, then FIN", Coding.GZIP, Point.HALF, Ending.FIN),
    ("gzip-lie", "the completion, called gzip, in plain", Coding.GZIP_LIE, None, None),
)


def content_faults() -> list[Fault]:
    """HTML, nothing, JSON of any other shape, and completions that are wrong in one thing."""
    return [
        Fault(
            id=id_,
            says=says,
            act=Answer(side=Side.AFTER, content=content),
            row="S7",
            authority=_RFC_2XX,
            no_twin=RAN,
            coverage=coverage,
        )
        for id_, content, says, coverage in _CONTENTS
    ]


def coding_faults() -> list[Fault]:
    """Compressed, though the request asked for no coding."""
    return [
        Fault(
            id=id_,
            says=f"200 with {says}, though no coding was asked for",
            act=Answer(side=Side.AFTER, coding=coding, cut=cut, ending=ending),
            row="S7",
            authority=_RFC_CODING,
            no_twin=RAN,
        )
        for id_, says, coding, cut, ending in _CODINGS
    ]
