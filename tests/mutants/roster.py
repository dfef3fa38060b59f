"""Every mutant by its name in the matrix, and the unbroken forwarders beside them."""

from collections.abc import Mapping
from pathlib import Path

from suites.foreign import ForeignSubject
from suites.processes import Supervisor
from suites.subject import Subject
from suites.subject_file import load_subject_file
from tests.mutants import answers, futures, library, lifecycle, proxy, resending, streaming, trusting, words
from tests.mutants.forwarder import Forwarder
from tests.mutants.subject import Make, called

RELAY = Path(__file__).with_name("relay.toml")
PROCESSES: Mapping[str, str | None] = {"correct-relay": None, "dies-of-garbage": "dies"}  # by variant of the relay

CALLED: Mapping[str, Make] = {
    "correct": Forwarder,
    # life: first, because those that hang take longest
    "waits-for-ever": lifecycle.WaitsForEver,
    "never-gives-up": lifecycle.NeverGivesUp,
    "closes-its-pool-for-good": lifecycle.ClosesItsPoolForGood,
    "strikes-upstreams-off": lifecycle.StrikesUpstreamsOff,
    "forgets-connections-of-errors": lifecycle.ForgetsConnectionsOfErrors,
    "begins-with-an-open-breaker": lifecycle.BeginsWithAnOpenBreaker,
    "never-reuses": lifecycle.NeverReuses,
    # sends again what may have run
    "sends-silence-again": resending.SendsSilenceAgain,
    "sends-server-errors-again": resending.SendsServerErrorsAgain,
    "trusts-retry-after": resending.TrustsRetryAfter,
    "takes-reused-for-unread": resending.TakesReusedForUnread,
    "takes-fresh-reset-for-unaccepted": resending.TakesFreshResetForUnaccepted,
    "sends-cut-answers-again": resending.SendsCutAnswersAgain,
    "sends-all-failures-again": resending.SendsAllFailuresAgain,
    "catches-connection-errors": library.CatchesConnectionErrors,
    "hedges": resending.Hedges,
    "sends-again-behind-its-caller": resending.SendsAgainBehindItsCaller,
    "sends-again-for-callers-that-left": resending.SendsAgainForCallersThatLeft,
    "goes-on-for-callers-that-left": resending.GoesOnForCallersThatLeft,
    # does not send again what was never applied
    "never-sends-again": resending.NeverSendsAgain,
    "sends-again-without-body": resending.SendsAgainWithoutBody,
    "sends-again-a-part": resending.SendsAgainAPart,
    "reuses-what-has-ended": lifecycle.ReusesWhatHasEnded,
    # answers
    "takes-every-200-for-success": answers.TakesEvery200ForSuccess,
    "takes-what-parses-for-whole": answers.TakesWhatParsesForWhole,
    "pools-what-is-owed-an-answer": answers.PoolsWhatIsOwedAnAnswer,
    "hands-answers-out-in-order": answers.HandsAnswersOutInOrder,
    "remembers-one-result": answers.RemembersOneResult,
    # words
    "says-silence-was-not-executed": words.SaysSilenceWasNotExecuted,
    "says-lost-results-were-not-executed": words.SaysLostResultsWereNotExecuted,
    "says-server-errors-were-not-executed": words.SaysServerErrorsWereNotExecuted,
    "says-no-and-sends-again": words.SaysNoAndSendsAgain,
    "says-what-it-cannot-know": words.SaysWhatItCannotKnow,
    "sends-again-what-it-cannot-know": words.SendsAgainWhatItCannotKnow,
    "waits-longer-than-it-says": words.WaitsLongerThanItSays,
    # TLS
    "takes-tls-errors-for-failed-handshakes": trusting.TakesTlsErrorsForFailedHandshakes,
    "verifies-nobody": trusting.VerifiesNobody,
}
SPEAK_TLS = frozenset({"correct", "takes-tls-errors-for-failed-handshakes", "verifies-nobody"})  # where it is about TLS


def roster(supervisor: Supervisor) -> dict[str, Subject]:
    """All of them, as subjects."""
    subjects: dict[str, Subject] = {name: called(name, make, tls=name in SPEAK_TLS) for name, make in CALLED.items()}
    for name, side in proxy.SIDES.items():
        subjects[name] = proxy.served(name, side)
    for name, kind in streaming.STREAMERS.items():
        subjects[name] = streaming.streaming(name, kind)
    for name, server in futures.FUTURES.items():
        subjects[name] = futures.with_futures(name, server)
    for name, variant in PROCESSES.items():
        subjects[name] = ForeignSubject(load_subject_file(RELAY, variant), supervisor)
    return subjects


def unbroken_beside(name: str) -> str:
    """The forwarder that this mutant could have been: against what that one tells, its own is held."""
    return "correct-futures" if name in futures.FUTURES else "correct"
