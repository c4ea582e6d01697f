"""Makes certificates for the tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

MAKE = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 2"


def certificates(folder: Path) -> Path:
    """Makes an authority `ca`, its certificate `host` for localhost, and an authority `other` without trust."""
    signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "basicConstraints=CA:FALSE"]
    host = ["-addext", "subjectAltName=DNS:localhost", *signed]
    for name, more in {"ca": [], "other": [], "host": host}.items():
        command = [*MAKE.split(), "-subj", f"/CN={name}", "-out", f"{name}.pem", "-keyout", f"{name}.key", *more]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder
