"""The mixes of faults that come with it."""

from importlib.resources import files

from faults.mix import Mix, mix_in

DEFAULT = "default"


def default_mix() -> Mix:
    """The mix that is used where no other is named."""
    return mix_in((files("signoff") / "mixes" / f"{DEFAULT}.toml").read_text("utf-8"), "the default mix")
