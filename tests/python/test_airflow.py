"""The block of `docs/airflow.md`. Airflow is too large to be installed here, so a stand-in runs its tasks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import redlatch
from servers import Server

PAGE = Path(__file__).parents[2] / "docs" / "airflow.md"
(BLOCK,) = re.findall(r"^```python\n# nightly.py\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)

#: Of Airflow's SDK as much as the page uses. As there, the objects that `@task` makes are of a class in that package.
SDK = """
from airflow.sdk.exceptions import AirflowSkipException

_added = []

class TaskDecorator:
    def __init__(self, function):
        self.function = function

    def __call__(self, *arguments):
        _added.append((self.function, arguments, {}))

    def expand(self, **mapped):
        ((name, values),) = mapped.items()
        _added.extend((self.function, (), {name: value}) for value in values)

class Dag:
    def __init__(self, tasks):
        self.tasks = tasks

    def test(self):
        for function, arguments, named in self.tasks:
            try:
                print(function.__name__, function(*arguments, **named))
            except AirflowSkipException as skipped:
                print(function.__name__, "skipped:", skipped)
            except Exception as error:
                print(function.__name__, type(error).__name__)

def task(function=None, **options):
    return TaskDecorator(function) if function else TaskDecorator

def dag(**options):
    def decorate(function):
        def make():
            _added.clear()
            function()
            return Dag(list(_added))
        return make
    return decorate
"""


def run(folder: Path, url: str, text: str) -> str:
    package = folder / "airflow" / "sdk"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(SDK)
    (package / "exceptions.py").write_text("class AirflowSkipException(Exception): ...\n")
    (folder / "nightly.py").write_text(text)
    command = [sys.executable, "-W", "error", "nightly.py"]
    env = {**os.environ, "REDLATCH_URL": url}
    ended = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False)
    return ended.stdout + ended.stderr


def test_the_tasks_of_the_page_run_with_their_locks(tmp_path: Path, own_server: Server) -> None:
    assert run(tmp_path, own_server.url, BLOCK).splitlines() == [
        "report sent for 2026-11-21",
        "bill billed 42",
        "bill billed 43",
        "collect collected 2026-11-21",
    ]
    with own_server.view() as view:
        assert view("KEYS", "*") == []


def test_tasks_whose_locks_are_taken_end_as_the_page_says(tmp_path: Path, own_server: Server) -> None:
    names = ["report:2026-11-21", "billing:43", "collect:2026-11-21"]
    with redlatch.connect(own_server.url) as client, client.get_multi_lock(*map(client.lock, names)):
        said = run(tmp_path, own_server.url, BLOCK)
    assert said.splitlines() == [
        "report None",
        "bill billed 42",
        "bill NotAcquiredError",
        "collect skipped: another run collects 2026-11-21",
    ]


@pytest.mark.parametrize(
    "above", ["client.lock('n')", "client.lock('n').decorator(on_busy='skip')", "client.job('n', at_most=60)"]
)
def test_a_decorator_above_the_task_is_an_error_where_the_file_is_read(
    tmp_path: Path, server: Server, above: str
) -> None:
    text = f"from airflow.sdk import task\nimport redlatch\nclient = redlatch.connect()\n{above}(task(print))\n"
    said = run(tmp_path, server.url, text)
    assert said.endswith("`n` decorates a task of Airflow; put it below `@task`, right above the def\n")
