"""Programs that fork while they use locks: under load, before they serve, as pools of processes."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import redlatch
from forks import in_a_fork
from redlatch import Client
from servers import Server
from view import View

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")


def test_forks_beside_busy_threads_all_work(client: Client, view: View, name: str) -> None:
    stop = threading.Event()

    def lock(which: str) -> None:
        while not stop.is_set():
            with client.get_lock(f"{name}:{which}"):
                pass

    def wait_in_vain() -> None:
        while not stop.is_set():
            assert client.get_lock(name).try_lock(wait=0.01) is None

    def work() -> bool:
        with client.get_lock(f"{name}:shared", wait=20) as hold:
            return bool(hold)

    with ThreadPoolExecutor(4) as pool, client.get_lock(name) as hold:
        threads = [pool.submit(lock, which) for which in ("own", "shared", "shared")]
        threads.append(pool.submit(wait_in_vain))
        try:
            assert {in_a_fork(work) for _ in range(200)} == {"True"}
        finally:
            stop.set()
        for thread in threads:
            thread.result()
        hold.ensure()
    assert view("EXISTS", name, f"{name}:own", f"{name}:shared") == 0


PREFORK = """
import os, signal, sys, redlatch
client = redlatch.connect(sys.argv[1], watchdog=1)
master = client.get_lock(sys.argv[2] + ":master").lock()
master.on_lost(lambda hold, error: print("lost:", error.reason, flush=True))
counter = open(sys.argv[3], "r+")

def serve(number):
    for _ in range(50):
        with client.get_lock(sys.argv[2], wait=30) as hold:
            counter.seek(0)
            count = int(counter.read())
            hold.ensure()
            counter.seek(0)
            counter.write(str(count + 1))
            counter.flush()
    if number % 2:
        os._exit(0)
    sys.exit(0)

def start(number):
    pid = os.fork()
    if pid == 0:
        serve(number)
    return pid

idle = os.fork()
if idle == 0:
    client.ping()
    signal.pause()
workers = [start(number) for number in range(4)]
workers += [start(number) for number in range(4, 6) if os.waitpid(workers.pop(0), 0)[1] == 0]
statuses = [os.waitpid(pid, 0)[1] for pid in workers]
os.kill(idle, signal.SIGTERM)
os.waitpid(idle, 0)
master.ensure()
print(statuses, open(sys.argv[3]).read())
master.release()
"""


def test_a_preforking_server_shares_its_client_with_its_workers(
    server: Server, view: View, name: str, tmp_path: Path
) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PREFORK, server.url, name, str(counter)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.stdout, ended.stderr) == ("[0, 0, 0, 0] 300\n", "")
    assert view("EXISTS", name, f"{name}:master") == 0


def lock_in_a_pool(arguments: tuple[str, str]) -> int:
    url, name = arguments
    with redlatch.connect(url) as client, client.get_lock(name, wait=30):
        return os.getpid()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_the_processes_of_a_pool_exclude_each_other(
    server: Server, client: Client, view: View, name: str, method: str
) -> None:
    client.ping()
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert len(pool.map(lock_in_a_pool, [(server.url, name)] * 8)) == 8
    assert view("EXISTS", name) == 0
