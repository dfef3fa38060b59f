"""Ledgers of operations that were answered, whole or cut: shared by the literal runs about results and failures."""

from fake_router.entries import AnyEntry
from faults.contents import fixed_content
from faults.plan import Plan, PlannedOperation
from faults.vocabulary import Content
from tests.ledgers import (
    OP,
    accepted,
    closed,
    executed,
    opened,
    received,
    replied,
    replying,
    result_body,
    served,
    steps,
    striking,
    struck,
)

HTML = fixed_content(Content.HTML)[1]
ERROR = fixed_content(Content.ERROR)[1]
WHOLE = result_body(OP, 1)
HALF = WHOLE[: len(WHOLE) // 2]


def answered_with(fault: str, status: int = 200) -> list[AnyEntry]:
    """One executed exchange whose whole answer is the fault's."""
    return steps(
        [opened(1), received(1), accepted(1), executed(1, 1), striking(fault, exchange=1)],
        [replying(1, status), replied(1), struck(5)],
    )


def cut_by(fault: str) -> list[AnyEntry]:
    """One executed exchange whose answer is cut."""
    return steps(
        [opened(1), received(1), accepted(1), executed(1, 1), striking(fault, exchange=1)],
        [replying(1), replied(1, whole=False), closed(1), struck(5)],
    )


HEALTHY = (opened(1), *served(1, 1))
UNREAD_LATE = steps(
    [opened(1), striking("unread-late", connection=1), struck(2), received(1), accepted(1), executed(1, 1)],
    [replying(1), replied(1, whole=False)],
)
TWO = Plan(operations=(PlannedOperation(), PlannedOperation()))
BOTH_SERVED = (*served(1, 1, OP), *served(2, 2, OP + 1))
