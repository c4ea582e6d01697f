"""Runs programs of tests in processes of their own."""

from __future__ import annotations

import subprocess
import sys


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the text of a program to its end. Fails if that takes more than a minute."""
    # From 3.12 on Python warns of a fork in a process with threads.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
