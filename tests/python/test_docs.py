"""Every block of the guide for Python runs as it stands, and is typed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from servers import Server

GUIDE = Path(__file__).parents[2] / "docs" / "python.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)


def test_the_blocks_of_the_guide_run_one_after_the_other(own_server: Server, tmp_path: Path) -> None:
    assert len(BLOCKS) >= 10
    program = tmp_path / "guide.py"
    program.write_text("\n".join(BLOCKS))
    environment = {**os.environ, "REDLATCH_URL": own_server.url}
    command = [sys.executable, "-W", "error", str(program)]
    run = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_the_blocks_of_the_guide_are_typed(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    program = tmp_path / "guide.py"
    program.write_text("\n".join(BLOCKS))
    # In a process of its own: what it leaves in memory makes every later collection of garbage slow.
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)[^)]*\)", GUIDE.read_text()))
def test_the_links_of_the_guide_lead_somewhere(link: str) -> None:
    assert (GUIDE.parent / link).exists()
