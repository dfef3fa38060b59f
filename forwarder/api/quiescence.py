"""When a server has come to rest: what was sent to it has been taken in, and everybody waits for somebody outside.

The loop is turned, and its sockets are looked at in each turn, until nobody is at work and nothing has happened for a
number of turns that no chain of callbacks needs (a reply of the router is with its forward after about ten).
"""

import asyncio

from forwarder.api.activity import Activity

_TURNS = 50


async def at_rest(activity: Activity) -> None:
    """Return when it rests. It does not rest while an outcome or an acceptance is being written."""
    quiet = 0
    steps = activity.steps
    while quiet < _TURNS:
        await asyncio.sleep(0)  # one turn of the loop: sockets that are ready are served, without waiting for any
        quiet = quiet + 1 if activity.busy == 0 and activity.steps == steps else 0
        steps = activity.steps
