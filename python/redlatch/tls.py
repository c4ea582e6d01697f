"""TLS as callers ask for it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from redlatch.errors import ArgumentTypeError
from redlatch.texts import Path, checked, path, shown


# No data class: what those import takes longer than all else of `import redlatch`.
class Tls(NamedTuple):
    """How the two ends of a `rediss://` connection prove who they are. All files are PEM and read by `connect`.

    - `ca`: the certificates of the authorities to trust; without it those that the system trusts.
    - `cert`, `key`: this client's own certificate and its private key, for a server that asks for one.
    - `verify`: what the server's certificate must prove. `"full"`: a trusted authority has signed it for this host;
      `"ca"`: for whatever host; `"none"`: nothing, so that an attacker on the way can read and change everything.
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
            f"tls is {shown('tls', tls)}; give a redlatch.Tls, and rediss:// in the URL for TLS alone"
        )
    files = {"tls_ca": tls.ca, "tls_cert": tls.cert, "tls_key": tls.key}
    texts = {name: None if file is None else path(name, file) for name, file in files.items()}
    return {**texts, "tls_verify": checked("tls_verify", tls.verify)}
