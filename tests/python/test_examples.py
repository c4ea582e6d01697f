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
    text, urls = example.read_text(), {"REDLATCH_URL": server.url}
    if "MARIADB_URL" in text:
        urls["MARIADB_URL"] = request.getfixturevalue("mariadb").url
    # An example that moves to another system runs for each of them.
    for other in ("mariadb", "zookeeper") if "NEW_URL" in text else ():
        run(example, {**urls, "NEW_URL": request.getfixturevalue(other).url})
    if "NEW_URL" not in text:
        run(example, urls)


def run(example: Path, urls: dict[str, str]) -> None:
    ended = subprocess.run(
        [sys.executable, str(example)],
        env={**os.environ, **urls},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout
    # A server that has just started grants nothing to a cautious client, which says so.
    assert not [line for line in ended.stderr.splitlines() if "grants no new locks" not in line]
