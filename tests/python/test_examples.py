"""Every example runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from servers import Server

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "python").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs(request: pytest.FixtureRequest, server: Server, example: Path) -> None:
    environment = {**os.environ, "REDLATCH_URL": server.url}
    if "MARIADB_URL" in example.read_text():
        environment["MARIADB_URL"] = request.getfixturevalue("mariadb").url
    run = subprocess.run(
        [sys.executable, str(example)], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout
    assert not run.stderr
