"""`retryproof ca`: a CA for forwarders that run already and speak TLS to their router."""

import argparse
from pathlib import Path

from fake_router.authority import key_file_of, write_authority
from retryproof.command import Command, file_path
from retryproof.exits import CommandError, Exit
from retryproof.output import say

_DESCRIPTION = """\
Make a CA that vouches for the fake router where a forwarder that runs already
speaks TLS to it. Its certificate is written to FILE, for the forwarder to
trust, and its key beside it, for the fake router alone: keep that one here."""

_EPILOG = """\
examples:
  retryproof ca router-ca.pem
  (start the forwarder: its router is https://127.0.0.1:9000, and it trusts
  router-ca.pem)
  retryproof check http://127.0.0.1:8000 --listen https://127.0.0.1:9000 \\
      --set listen_ca=router-ca.pem \\
      --speaks openai-completions --promises transparent

exit codes:
  0    both files are written
  2    FILE cannot be written, or is there already"""


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=file_path, help="where the certificate of the CA is written")


def _run(options: argparse.Namespace) -> Exit:
    path: Path = options.file
    try:
        write_authority(path)
    except OSError as error:
        where = str(error.filename or path)
        raise CommandError(
            f"cannot write the CA to {where!r}: {error.strerror}; expected a new file, in a folder of yours", Exit.USAGE
        ) from None
    say(f"a CA is in {str(path)!r}, for the forwarder to trust, and its key in {str(key_file_of(path))!r}")
    return Exit.PASS


COMMAND = Command(
    name="ca",
    description=_DESCRIPTION,
    epilog=_EPILOG,
    options=_options,
    run=_run,
)
