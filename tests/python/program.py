"""Programs of their own."""

from __future__ import annotations

import subprocess
import sys


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end, which is to come within a minute."""
    # Python warns of forks beside threads from 3.12 on.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
