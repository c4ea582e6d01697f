"""The project of `docs/django.md`, file by file, under the real Django."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import redlatch
from eventually import until_true
from servers import Server

PAGE = Path(__file__).parents[2] / "docs" / "django.md"
FILE = re.compile(r"^```python\n# (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILES = {"settings.py", "locks.py", "middleware.py", "urls.py", "management/commands/migrate.py"}
#: A migration that must run once. It is none of the page's.
MIGRATION = """
from pathlib import Path
from django.db import migrations

def note(apps, schema_editor):
    with (Path(__file__).parents[2] / "migrated").open("a") as file:
        file.write("once\\n")

class Migration(migrations.Migration):
    operations = [migrations.RunPython(note)]
"""
ASK = """
import sys
import django
from django.conf import settings
django.setup()
from django.test import Client
for path in sys.argv[1:]:
    answer = Client(raise_request_exception=False).get(path)
    print(answer.status_code, answer.content.decode()[:20].splitlines()[0] if answer.status_code != 500 else "")
"""


class Project:
    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self._env = {
            **os.environ,
            "REDLATCH_URL": url,
            "DJANGO_SETTINGS_MODULE": "shop.settings",
            "PYTHONWARNINGS": "error",
        }

    def start(self, *command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *command],
            cwd=self.folder,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *command: str) -> str:
        return end(self.start(*command))


def end(running: subprocess.Popen[str]) -> str:
    said, _ = running.communicate(timeout=60)
    assert running.returncode == 0, said
    return said


@pytest.fixture(scope="module")
def django_server() -> Iterator[Server]:
    """A server of its own: the names of the page's locks are fixed."""
    server = Server()
    yield server
    server.close()


@pytest.fixture
def project(tmp_path: Path, django_server: Server) -> Project:
    files = dict(FILE.findall(PAGE.read_text()))
    assert {f"shop/{name}" for name in FILES} < set(files)
    for name, text in {**files, "shop/migrations/0001_once.py": MIGRATION}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for folder in ("shop", "shop/migrations", "shop/management", "shop/management/commands"):
        (tmp_path / folder / "__init__.py").touch()
    return Project(tmp_path, django_server.url)


def test_every_block_of_the_page_names_its_file() -> None:
    assert len(FILE.findall(PAGE.read_text())) == PAGE.read_text().count("```python")


def test_a_request_is_locked_until_its_transaction_has_ended(project: Project, django_server: Server) -> None:
    said = project.run(
        "-c", ASK, "/orders/42/charge", "/orders/42/ship", "/orders/42/charge?fails=1", "/orders/42/charge"
    )
    lines = [line for line in said.splitlines() if line.startswith(("2", "4", "5", "committed"))]
    held = "committed, and held: True"
    assert lines == [held, "200 charged 42", "200 shipped 42", "500 ", held, "200 charged 42"]
    with redlatch.connect(django_server.url) as client:
        assert not client.lock("orders:42").is_locked()
        with client.lock("orders:42"):
            assert project.run("-c", ASK, "/orders/42/charge", "/orders/43/charge").splitlines()[-3:] == [
                "423 orders:42 is locked",
                held,
                "200 charged 43",
            ]


def test_two_migrations_at_once_take_turns(project: Project, django_server: Server) -> None:
    with redlatch.connect(django_server.url) as client:
        with client.lock("shop:migrate"):
            both = [project.start("-m", "django", "migrate") for _ in range(2)]
            until_true(lambda: [held.waiting for held in client.locks("shop:migrate")] == [2], "two commands that wait")
            assert not (project.folder / "migrated").exists()
        said = [end(running) for running in both]
    assert (project.folder / "migrated").read_text() == "once\n"
    assert sorted("No migrations to apply" in each for each in said) == [False, True]


def test_a_command_runs_on_one_node(project: Project) -> None:
    assert project.run("-m", "django", "nightly") == "ran: reports are sent\n"
    assert project.run("-m", "django", "nightly") == "skipped: None\n"
