"""Real servers that fork before they work: gunicorn with `--preload`, Celery's pool of processes."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from eventually import until_true
from servers import Server, free_port
from view import View

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")

# The parent takes `of_parent` before it forks. All of its children count with the same client.
SHARED = """
import os, redlatch

client = redlatch.connect(os.environ["URL"], watchdog=1)
of_parent = client.get_lock(os.environ["NAME"] + ":parent")

def count():
    with client.get_lock(os.environ["NAME"], wait=20) as hold, open(os.environ["COUNTER"], "r+") as counter:
        number = int(counter.read())
        hold.ensure()
        counter.seek(0)
        counter.write(str(number + 1))
    return f"{os.getpid()} {client.id}"
"""

SITE = """
from shared import count, of_parent

of_parent.lock()

def app(environ, start_response):
    answer = count().encode()
    start_response("200 OK", [("Content-Length", str(len(answer)))])
    return [answer]
"""

JOBS = """
import os, sys
from celery import Celery
from celery.signals import worker_init
from shared import count, of_parent

app = Celery("jobs", broker=os.environ["URL"], backend=os.environ["URL"])
worker_init.connect(lambda **_: of_parent.lock(), weak=False)

@app.task(name="count")
def job():
    return count()

if __name__ == "__main__":
    for answer in [job.delay() for _ in range(int(sys.argv[1]))]:
        print(answer.get(timeout=30))
"""


class Program:
    """A program that forks: its files, its environment and the counter that its processes share."""

    def __init__(self, folder: Path, server: Server, view: View, name: str) -> None:
        self.view = view
        self.name = name
        self._folder = folder
        self._env = {**os.environ, "URL": server.url, "NAME": name, "COUNTER": str(folder / "counter")}
        for file, text in {"shared.py": SHARED, "site_.py": SITE, "jobs.py": JOBS, "counter": "0"}.items():
            (folder / file).write_text(text)

    @contextmanager
    def running(self, *command: str) -> Iterator[subprocess.Popen[bytes]]:
        """Runs the program. At its end it must exit without an error, and its first process must release its lock."""
        said = self._folder / "said"
        with said.open("wb") as output:
            command = (sys.executable, "-W", "ignore", "-m", *command)
            parent = subprocess.Popen(command, cwd=self._folder, env=self._env, stdout=output, stderr=output)
        try:
            until_true(lambda: self.is_held() or parent.poll() is not None, "the lock of the first process")
            assert parent.poll() is None, said.read_text()
            yield parent
            parent.terminate()
            assert parent.wait(timeout=20) == 0, said.read_text()
        finally:
            parent.kill()
            parent.wait()
        assert self.view("EXISTS", self.name, f"{self.name}:parent") == 0, said.read_text()

    def run(self, *command: str) -> list[str]:
        command = (sys.executable, *command)
        ended = subprocess.run(
            command, cwd=self._folder, env=self._env, capture_output=True, text=True, timeout=60, check=False
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.splitlines()

    def is_held(self) -> bool:
        """Whether the first process holds its lock."""
        return self.view("EXISTS", f"{self.name}:parent") == 1

    def is_renewed(self) -> None:
        """Returns when the first process has renewed its lock."""
        left = [10**9]

        def rises() -> bool:
            left.append(int(str(self.view("PTTL", f"{self.name}:parent"))))
            return left[-1] > left[-2]

        until_true(rises, "a renewal")

    def counted(self) -> int:
        return int((self._folder / "counter").read_text())


@pytest.fixture
def program(tmp_path: Path, own_server: Server, name: str) -> Iterator[Program]:
    with own_server.view() as view:
        yield Program(tmp_path, own_server, view, name)


def test_gunicorn_shares_a_preloaded_client_with_its_workers(program: Program) -> None:
    port = free_port()

    def ask(_: object = None) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", "/")
        return connection.getresponse().read().decode()

    def another(seen: list[str]) -> bool:
        try:
            return ask() not in seen
        except OSError:
            return False

    options = ["--preload", "--workers", "3", "--bind", f"127.0.0.1:{port}", "site_:app"]
    with program.running("gunicorn", *options) as parent, ThreadPoolExecutor(6) as pool:
        until_true(lambda: another([]), "a worker")
        before = program.counted()
        seen = list(pool.map(ask, range(60)))
        assert program.counted() == before + 60
        # Each process has a client id of its own.
        assert len({answer.split()[0] for answer in seen}) == len({answer.split()[1] for answer in seen})
        for answer in set(seen):
            os.kill(int(answer.split()[0]), signal.SIGTERM)
        until_true(lambda: another(seen), "a worker that was forked later")
        program.is_renewed()
        assert parent.poll() is None


def test_celery_shares_a_client_with_the_processes_of_its_pool(program: Program) -> None:
    options = ["worker", "--pool", "prefork", "--concurrency", "3", "--max-tasks-per-child", "5"]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING"]
    with program.running("celery", "-A", "jobs", *options, *quiet):
        seen = program.run("jobs.py", "40")
        assert (len(seen), program.counted()) == (40, 40)
        assert len({answer.split()[0] for answer in seen}) == len({answer.split()[1] for answer in seen}) >= 8
        program.is_renewed()
