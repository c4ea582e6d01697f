"""The TLS options of a client."""

from __future__ import annotations

from typing import Literal, NamedTuple

from redlatch.checks import Path, checked_path, checked_text, shown
from redlatch.errors import ArgumentTypeError


# No data class: their import takes longer than all the rest of `import redlatch`.
class Tls(NamedTuple):
    """How the two ends of a connection with TLS prove their identity. `connect` reads the files, which are PEM.

    - `ca`: the certificates of the authorities to trust. Without it those that the system trusts.
    - `cert`, `key`: this client's own certificate and its private key, for a server that asks for one.
    - `verify`: the proof that the server's certificate must give. `"full"`: a trusted authority has signed it for this
      host. `"ca"`: a trusted authority has signed it, for any host. `"none"`: no proof, so an attacker between client
      and server can read and change everything.
    """

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    verify: Literal["full", "ca", "none"] = "full"


def options(tls: Tls | None) -> dict[str, str | None]:
    """The core's options by name."""
    if tls is None:
        return {}
    if not isinstance(tls, Tls):
        raise ArgumentTypeError(
            f"tls is {shown('tls', tls)}; give a redlatch.Tls, "
            "and rediss://, mysqls:// or zookeepers:// in the URL for TLS alone"
        )
    files = {"tls_ca": tls.ca, "tls_cert": tls.cert, "tls_key": tls.key}
    paths = {name: None if file is None else checked_path(name, file) for name, file in files.items()}
    return {**paths, "tls_verify": checked_text("tls_verify", tls.verify)}
