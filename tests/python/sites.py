"""Runs web programs under real servers, and sends many requests to them at the same time."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from eventually import until_true
from servers import Server, free_port
from view import View

#: The beginning of every site: its clients, and a count of the callers inside a block, in all of its processes.
PRELUDE = '''
import asyncio, fcntl, os, threading, time
import redlatch
from redlatch import aio

NAME, PATIENCE = os.environ["NAME"], 20
client = redlatch.connect(os.environ["URL"])
aio_client = aio.connect(os.environ["URL"])

def lock(name, wait=PATIENCE):
    return getattr(client, os.environ["LOCK"])(f"{NAME}:{name}", wait=wait)

class Inside:
    """Counts the callers inside, in a file: `inside most`."""

    def __enter__(self):
        self.change(1)

    def __exit__(self, *_):
        self.change(-1)

    def change(self, by):
        with open(os.environ["COUNTER"], "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            inside, most = map(int, file.read().split())
            file.seek(0)
            file.truncate()
            file.write(f"{inside + by} {max(most, inside + by)}")
'''


class Site:
    """A running web program, its locks and its count of callers."""

    def __init__(self, port: int, view: View, name: str, counter: Path) -> None:
        self._port = port
        self._view = view
        self._name = name
        self._counter = counter

    def get(self, path: str, method: str = "GET") -> tuple[int, str]:
        """The status and the text of one answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def get_all(self, paths: Iterable[str]) -> list[tuple[int, str]]:
        """The answers to requests that are sent at the same time."""
        each = list(paths)
        with ThreadPoolExecutor(len(each)) as pool:
            return list(pool.map(self.get, each))

    def answers(self) -> bool:
        try:
            return self.get("/ready")[0] == 200
        except OSError:
            return False

    def keys(self) -> list[str]:
        """The locks that are held now."""
        keys = self._view("KEYS", f"{self._name}:*")
        assert isinstance(keys, list)
        return sorted(map(str, keys))

    def keys_left(self) -> int:
        """How many locks stay held. A server releases the locks of a request shortly after its answer."""
        try:
            until_true(lambda: not self.keys(), "locks that are given back", within=20)
        except AssertionError:
            return len(self.keys())
        return 0

    def most_inside(self) -> int:
        """The largest number of callers that were inside at the same time."""
        return int(self._counter.read_text().split()[1])


@contextmanager
def running(folder: Path, server: Server, name: str, lock: str, text: str, *command: str) -> Iterator[Site]:
    """Runs `text` as `site_.py` in `folder`, under a web server. `command` is the server's module and its arguments."""
    port = free_port()
    counter = folder / "counter"
    counter.write_text("0 0")
    (folder / "site_.py").write_text(PRELUDE + text)
    environment = {**os.environ, "URL": server.url, "NAME": name, "LOCK": lock, "COUNTER": str(counter)}
    words = [sys.executable, "-W", "ignore", "-m", *(word.format(port=port) for word in command)]
    said = folder / "said"
    with said.open("wb") as output, server.view() as view:
        program = subprocess.Popen(words, cwd=folder, env=environment, stdout=output, stderr=output)
        site = Site(port, view, name, counter)
        try:
            until_true(lambda: site.answers() or program.poll() is not None, "a site that answers", within=30)
            assert program.poll() is None, said.read_text()
            yield site
        finally:
            program.terminate()
            try:
                program.wait(timeout=20)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()
