"""Python's collector of cycles, told that a server holds many objects, and holds them for long.

One forward in flight is about ninety objects to it. By its own thresholds it looks at all of them again whenever their
number has grown by a quarter: a request at 4,096 in flight then takes 1.5 times the CPU of one at 512 (measured), and
with these as much. What a forward leaves behind is freed without it, but for some failures, whose cycles it finds while
they are young.
"""

import gc

_YOUNG = 10_000  # new objects between two looks at the new ones
_MIDDLE = 1_000  # of those looks between two at what was in use during one
_OLD = 10


def collect_seldom() -> None:
    """Look often at what is new, and seldom at what stays; what there is already is never looked at again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
