"""How the operations of a subject that is called over HTTP are asked, in the protocol that its file names."""

from typing import assert_never

from suites.endpoint import Endpoint
from suites.run import Promise
from suites.speech import Speech
from suites.subject_text import SubjectFile
from suites.tinker.caller import TinkerCaller

Asking = Endpoint | TinkerCaller


def asking(endpoint: Endpoint, file: SubjectFile) -> Asking:
    """Who calls an instance there."""
    match file.speech:
        case Speech.OPENAI:
            return endpoint
        case Speech.TINKER:
            futures = file.spec.facts.promises is Promise.FUTURES
            return TinkerCaller(endpoint=endpoint, not_executed=file.not_executed, again=futures)
        case _:
            assert_never(file.speech)
