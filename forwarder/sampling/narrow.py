"""Logprobs as the wire holds them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from forwarder.sampling.result import LOGPROB, Logprobs


def narrow(wide: NDArray[Any]) -> Logprobs | None:
    """As float32; None where one of them is too large for that, and would be infinite."""
    with np.errstate(over="ignore"):
        found: Logprobs = wide.astype(LOGPROB)
    return found if np.isfinite(found).all() else None
