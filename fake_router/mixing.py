"""A mix that is armed: faults at a rate, each on the first exchange of the operations that draw it."""

from dataclasses import dataclass
from typing import cast

from fake_router.injector import HEALTHY_STEP, MAX_READ_TIMEOUT_MS, ExchangeStep
from faults.acts import ExchangeAct, is_listener_act, needs_tls
from faults.catalogue import fault_named
from faults.mix import Drawing, Mix
from faults.plan import PlanError
from faults.truth import speaks_unasked


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmedMix:
    """Gives each operation the step of its first exchange. left_out: the faults that cannot strike here; who draws one
    of them meets none.
    """

    drawing: Drawing
    steps: dict[str, ExchangeStep]
    left_out: tuple[str, ...]

    @staticmethod
    def of(mix: Mix, *, seed: int, read_timeout_ms: int, tls: bool) -> "ArmedMix":
        """Armed with that seed, on a router that speaks TLS or does not. Raises PlanError where nothing can strike.

        A fault of a listener strikes whoever comes next on it, and one that speaks unasked whoever asks next on its
        connection: no operation's number can draw it.
        """
        if not 1 <= read_timeout_ms <= MAX_READ_TIMEOUT_MS:
            raise PlanError(f"read_timeout_ms is {read_timeout_ms!r}; expected 1 or more, up to {MAX_READ_TIMEOUT_MS}")
        steps = {}
        for id_ in sorted(mix.faults):
            act = fault_named(id_).act
            if not (is_listener_act(act) or speaks_unasked(act)) and (tls or not needs_tls(act)):
                steps[id_] = ExchangeStep(act=cast(ExchangeAct, act), fault=id_, read_timeout_s=read_timeout_ms / 1000)
        if not steps:
            raise PlanError(f"mix {mix.name!r}: none of its faults strikes an exchange; expected one that does")
        left_out = tuple(sorted(mix.faults.keys() - steps.keys()))
        return ArmedMix(drawing=Drawing.of(mix, seed), steps=steps, left_out=left_out)

    def step_of(self, operation: int) -> ExchangeStep:
        """What its first exchange meets."""
        fault = self.drawing.fault_of(operation)
        return HEALTHY_STEP if fault is None else self.steps.get(fault, HEALTHY_STEP)
