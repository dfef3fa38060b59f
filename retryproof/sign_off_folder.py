"""The output folder of a sign-off: signoff.json and its faces, and each side in a folder of its own."""

from collections.abc import Callable
from pathlib import Path

from retryproof.folder import stamped, write_whole
from signoff.html import html_of_sign_off
from signoff.junit import junit_of_sign_off
from signoff.markdown_sign_off import markdown_of_sign_off
from signoff.report import Report, load_report
from signoff.sign_off import SignOff, dump_sign_off

SIDES = ("base", "candidate")
REPORT = "report.json"
FILE = "signoff.json"
PATHS = (f"{SIDES[0]}/{REPORT}", f"{SIDES[1]}/{REPORT}")  # of both reports, relative to FILE

# What is drawn from a sign-off, beside its own file: the name of the file, and what is in it.
FACES: tuple[tuple[str, Callable[[SignOff], bytes]], ...] = (
    ("report.html", html_of_sign_off),
    ("report.md", markdown_of_sign_off),
    ("junit.xml", junit_of_sign_off),
)


class SignOffFolder:
    """One sign-off's folder under --out. Raises CommandError (exit code 4) when it cannot be written."""

    def __init__(self, root: Path, base: str, candidate: str) -> None:
        self.path = root / stamped(f"signoff-{base[-28:]}--{candidate[-28:]}")

    def side(self, side: str) -> Path:
        """Where that side's report, ledger and plans go."""
        return self.path / side

    def report(self, side: str) -> Report | None:
        """What that side's report holds by now; None where it has none."""
        path = self.side(side) / REPORT
        return load_report(path) if path.exists() else None

    def write(self, sign_off: SignOff) -> None:
        """Write it, and every face; each is complete or as it was before."""
        write_whole(self.path / FILE, dump_sign_off(sign_off))
        for name, drawn in FACES:
            write_whole(self.path / name, drawn(sign_off))
