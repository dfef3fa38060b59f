"""A CA in two files: its certificate, for forwarders to trust, and its key beside it, for the router alone."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trustme import CA

_CERTIFICATE_MODE, _KEY_MODE = 0o644, 0o600


def key_file_of(path: Path) -> Path:
    """Where the key of the CA in that file is."""
    return path.with_name(f"{path.name}.key")


def write_authority(path: Path) -> None:
    """Make a CA there. Raises OSError, FileExistsError where there is one already, with no certificate left behind."""
    from trustme import CA  # it imports cryptography, which takes a while

    authority = CA()
    _write_new(key_file_of(path), authority.private_key_pem.bytes(), _KEY_MODE)
    try:
        _write_new(path, authority.cert_pem.bytes(), _CERTIFICATE_MODE)
    except OSError:
        key_file_of(path).unlink()
        raise


def read_authority(path: Path) -> "CA":
    """The CA that is there. Raises OSError for a file that cannot be read, and ValueError where the two are no CA."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    from cryptography.x509 import load_pem_x509_certificate
    from trustme import CA

    certificate, key = path.read_bytes(), key_file_of(path).read_bytes()
    try:
        fits = load_pem_x509_certificate(certificate).public_key() == load_pem_private_key(key, None).public_key()
    except TypeError as error:  # of a key with a password
        raise ValueError(str(error)) from None
    if not fits:
        raise ValueError(f"{key_file_of(path).name!r} is the key of another certificate")
    return CA.from_pem(certificate, key)


def _write_new(path: Path, data: bytes, mode: int) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(data)
