"""Many drawn scripts, one after the other, from one seed."""

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test

from suites.futures.machine import BrokenMustError, FuturesMachine
from suites.futures.table import Table

STEPS = 24  # of one script, at most


def play_drawn(table: Table, *, examples: int, seed_number: int) -> None:
    """So many scripts, drawn from that seed; the first that breaks a must is shrunk, and then it ends. What came of
    them is in `table.played`.
    """
    machine = seed(seed_number)(type("Machine", (FuturesMachine,), {"table": table}))
    try:
        run_state_machine_as_test(machine, settings=_settings(examples))
    except (BrokenMustError, Flaky):
        return
    except KeyboardInterrupt:
        if not table.played.stopped:
            raise


def _settings(examples: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
