"""Whom clients trust over TLS: the CA of our routers, as a context and as a file, and nobody else."""

import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fake_router.identity import IDENTITY


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """The same CA for clients that take a context, and for those that take a file. Chain and name are verified."""

    context: ssl.SSLContext
    ca_file: Path

    @staticmethod
    @contextmanager
    def made() -> Iterator["Trust"]:
        """The file is there as long as this is open."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=IDENTITY.ca_pem.decode())
        with tempfile.TemporaryDirectory(prefix="retryproof-") as folder:
            ca_file = Path(folder) / "ca.pem"
            ca_file.write_bytes(IDENTITY.ca_pem)
            yield Trust(context=context, ca_file=ca_file)
