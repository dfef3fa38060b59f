"""A plan or script on which a subject has failed under pytest is kept, so that a command can live through it again."""

import json
import re
import shlex
from hashlib import sha256
from pathlib import Path

from faults.plan import Plan
from faults.plan_json import dump_plan
from suites.futures.script import Script, dump_script

FAILING_PLANS = Path("retryproof-out") / "failing-plans"
_LONGEST = 100  # characters of a file's name


def kept(plan: Plan, suite: str, subject: str) -> str:
    """Write it down; returns how it is replayed. Where it cannot be written the words hold the plan itself."""
    return _kept(_file_name(plan, suite), dump_plan(plan), subject)


def kept_script(script: Script, check: str, subject: str) -> str:
    """The same of a script of futures, on which that check has failed."""
    text = dump_script(script)
    return _kept(f"futures--{check}-{sha256(text.encode()).hexdigest()[:8]}", text, subject)


def _kept(name: str, text: str, subject: str) -> str:
    path = FAILING_PLANS / f"{name}.json"
    command = f"retryproof replay {path} --subject {shlex.quote(subject)}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    except OSError as error:
        line = json.dumps(json.loads(text))
        return f"{command}, once this plan is there, which could not be written ({error.strerror}): {line}"
    return command


def _file_name(plan: Plan, suite: str) -> str:
    """Its own name, where that can be a file's and stays in its folder; else with a digest, so that no other has it."""
    wanted = plan.name.replace("/", "--")
    plain = re.sub(r"[^\w.=+,-]+", "-", wanted, flags=re.ASCII)[:_LONGEST].strip(".-")
    if wanted and plain == wanted:
        return plain
    return f"{plain or suite}-{sha256(dump_plan(plan).encode()).hexdigest()[:8]}"
