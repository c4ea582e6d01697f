"""Thirty things that a user does in the first hour, as the guides tell it, each against a real server.

Sixteen of them have tests elsewhere:

- the program of the first page, copied and run: test_docs.py
  test_the_blocks_of_a_page_run_one_after_the_other
- a service of FastAPI, with 423 for a busy order: test_examples.py
  test_an_example_runs
- a view of Django, with 423 for a busy order: test_django.py
  test_a_request_is_locked_until_its_transaction_has_ended
- uvicorn and gunicorn under SIGTERM with a lock: test_lifespans.py
  test_the_end_of_a_server_releases_the_locks_of_a_client_of_the_lifespan
- a worker of Celery, killed: test_celery.py
  test_a_run_is_skipped_or_retried_and_a_killed_worker_blocks_no_longer_than_a_lease
- a program that ends with its locks: test_at_exit.py
  test_the_end_of_a_program_frees_its_locks_and_tells_their_holders
- a decorated method: test_decorators.py
  test_methods_are_decorated_and_know_their_object
- a decorated generator: test_decorators.py
  test_a_function_that_would_run_after_the_release_is_not_decorated
- a block in an asynchronous generator: test_aio.py
  test_blocks_of_generators_may_end_in_any_order
- a thread beside a task: test_decorated_coroutines.py
  test_a_thread_and_a_task_exclude_each_other
- a lost lock, with logging on: test_logging.py
  test_a_program_that_ends_at_once_shows_its_loss
- a URL that names no server: test_bad_input.py
  test_urls_that_name_no_server_are_refused
- a server that does not run: test_trouble.py
  test_a_call_to_a_port_without_a_listener_names_the_address_and_the_remedy_at_once
- a wrong password: test_misuses.py
  test_the_error_of_a_server_that_wants_a_password_names_the_remedy
- a client, a lock, a hold that is pickled: test_misuses.py
  test_objects_that_are_pickled_or_copied_name_the_remedy
- Ctrl-C while a thread waits: test_ctrl_c.py
  test_ctrl_c_ends_the_wait_and_leaves_nothing

The other fourteen are the tests below.
"""

from __future__ import annotations

import ast
import asyncio
import gc
import inspect
import multiprocessing
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import redlatch
import sites
from eventually import until_true
from redlatch import Client, aio
from servers import Server
from view import View

HERE = Path(__file__).parent
FLASK = HERE.parents[1] / "docs" / "flask.md"


def test_the_things_are_thirty_and_each_test_of_the_table_is_there() -> None:
    cited = re.findall(r"^- .+: (test_\w+\.py)\n  (test_\w+)$", str(__doc__), re.MULTILINE)
    for file, test in cited:
        assert f"def {test}(" in (HERE / file).read_text()
    here = [name for name in globals() if name.startswith("test_") and name != inspect.stack()[0].function]
    assert (len(cited), len(here)) == (16, 14)


class Folder:
    """A folder with the programs of a user, and the variable that names the server."""

    def __init__(self, path: Path, url: str, name: str) -> None:
        self._path = path
        self._env = {**os.environ, "REDLATCH_URL": url, "NAME": name}

    def start(self, *command: str) -> subprocess.Popen[str]:
        """Starts Python with these arguments. Its stdin is open, and its stdout and stderr are one."""
        return subprocess.Popen(
            [sys.executable, *command],
            cwd=self._path,
            env=self._env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *command: str, stdin: str = "") -> str:
        """Runs Python with these arguments to its end, and returns its stdout and stderr."""
        with self.start(*command) as program:
            said, _ = program.communicate(stdin, timeout=60)
        assert program.returncode == 0, said
        return said

    def write(self, file: str, text: str) -> None:
        (self._path / file).write_text(text)

    def read(self, file: str) -> str:
        return (self._path / file).read_text()


@pytest.fixture
def folder(tmp_path: Path, server: Server, name: str) -> Folder:
    return Folder(tmp_path, server.url, name)


#: The views of the guide, and one that keeps its lock.
SHOP = (
    re.findall(r"^```python\n(.*?)^```$", FLASK.read_text(), re.DOTALL | re.MULTILINE)[0]
    + """
@app.get("/ready")
def ready() -> str:
    return "ready"

@app.get("/keep")
def keep() -> str:
    app.config["KEPT"] = client.lock(f"{NAME}:kept").lock()
    return "kept"
"""
)
GUNICORN = ("gunicorn", "--workers", "2", "--bind", "127.0.0.1:{port}", "site_:app")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_server: Server, name: str) -> Iterator[sites.Site]:
    """The site of the guide to Flask, under two workers of gunicorn."""
    monkeypatch.setenv("REDLATCH_URL", own_server.url)
    with sites.running(tmp_path, own_server, name, "lock", SHOP, *GUNICORN) as site:
        yield site


def test_a_view_of_flask_answers_423_for_a_busy_order(shop: sites.Site, own_server: Server) -> None:
    with redlatch.connect(own_server.url) as client, client.lock("orders:42"):
        for path in ("/orders/42/charge", "/orders/42/ship"):
            assert shop.get(path, "POST") == (423, '{"detail":"orders:42 is locked"}\n')
        assert shop.get("/orders/43/charge", "POST") == (200, "charged 43")
    assert shop.get("/orders/42/charge", "POST") == (200, "charged 42")
    assert shop.get("/orders/42/ship", "POST") == (200, "shipped 42")


def test_the_end_of_a_worker_of_flask_releases_its_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server, view: View, name: str
) -> None:
    monkeypatch.setenv("REDLATCH_URL", server.url)
    with sites.running(tmp_path, server, name, "lock", SHOP, *GUNICORN) as site:
        assert site.get("/keep") == (200, "kept")
        assert site.keys() == [f"{name}:kept"]
    assert view("KEYS", f"{name}:*") == []


WORKER = """
import os, signal
import redlatch

client = redlatch.connect(watchdog=1)
with client.lock(os.environ["NAME"]):
    print("working", flush=True)
    signal.pause()
"""


def test_the_next_worker_gets_the_lock_of_one_that_was_killed_within_its_watchdog(
    folder: Folder, client: Client, view: View, name: str
) -> None:
    with folder.start("-c", WORKER) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "working\n"
        assert client.lock(name).try_lock() is None
        worker.kill()
        worker.wait()
    assert int(str(view("PTTL", name))) <= 1000
    with client.lock(name, wait=20):
        pass


class Matching:
    """Equals each text that matches its pattern."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and re.fullmatch(self._pattern, other) is not None

    def __hash__(self) -> int:
        return hash(self._pattern)

    def __repr__(self) -> str:
        return self._pattern


def matching(pattern: str) -> Any:
    return Matching(pattern)


def answers(said: str) -> list[str]:
    """The values and the errors that a session has shown."""
    lines = [re.sub(r"^(>>> |\.\.\. )+", "", line) for line in said.splitlines()]
    return [line for line in lines if re.match(r"True$|False$|<redlatch|redlatch\.errors|\w+Error:", line)]


SESSION = """
import os, redlatch
client = redlatch.connect()
lock = client.lock(os.environ["NAME"], wait=0.5)
lock.is_locked()
hold = lock.lock()
hold
hold.held
lock.lock()
with client.lock("{NAME}:block".format_map(os.environ)):
    1 / 0

client.lock("{NAME}:block".format_map(os.environ)).is_locked()
redlatch.connect().lock(lock.name).force_unlock()
hold.wait_lost(20)
hold.release()
lock.lock().held
"""


def test_a_session_of_the_interpreter_goes_on_after_each_error_and_releases_its_locks(
    folder: Folder, view: View, name: str
) -> None:
    said = folder.run("-i", "-q", "-c", "import sys; sys.ps1 = ''; sys.ps2 = ''", stdin=SESSION)
    assert answers(said) == [
        "False",
        matching(rf"<redlatch\.Hold of '{name}' by owner \d+>"),
        "True",
        matching(rf"redlatch\.errors\.NotAcquiredError: `{name}` was not .*: its own hold keeps this thread .*"),
        "ZeroDivisionError: division by zero",
        "False",
        "True",
        "True",
        matching(rf"redlatch\.errors\.LockLostError: `{name}` is lost to .*: deleted .*"),
        "True",
    ]
    assert view("KEYS", f"{name}*") == []


AWAITING = """
import os, redlatch
from redlatch import aio
client = aio.connect()
lock = client.lock(os.environ["NAME"], wait=0.5)
hold = await lock.lock()
hold.held
redlatch.connect().lock(lock.name).try_lock()
redlatch.connect().lock(lock.name).lock()
await lock.release()
redlatch.connect().lock(lock.name).lock().held
"""


def test_a_session_of_asyncio_takes_free_locks_of_both_clients(folder: Folder, view: View, name: str) -> None:
    said = folder.run("-m", "asyncio", stdin=AWAITING)
    assert answers(said) == [
        "True",
        matching(rf"redlatch\.errors\.UnsupportedError: `{name}` is taken, and a wait .* would stop the event loop .*"),
        "True",
    ]
    assert view("EXISTS", name) == 0


class Notebook:
    """Runs cells in one namespace, each in a task of a running loop, as the kernel of a notebook does."""

    def __init__(self, **names: object) -> None:
        self._names: dict[str, Any] = names

    async def run(self, cell: str) -> Exception | None:
        """Runs a cell, and returns its error."""
        code = compile(cell, "<cell>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

        async def task() -> None:
            ended = eval(code, self._names)
            if inspect.isawaitable(ended):
                await ended

        try:
            await asyncio.create_task(task())
        except Exception as error:
            return error
        return None


async def test_a_cell_of_a_notebook_that_failed_with_a_lock_runs_again(
    client: Client, aio_client: aio.Client, name: str
) -> None:
    for of, wait, busy in (client, "", redlatch.UnsupportedError), (aio_client, "await ", redlatch.NotAcquiredError):
        notebook = Notebook(lock=of.lock(name, wait=0.5), fails=True)
        begin = "async with" if wait else "with"
        block = f"{begin} lock as hold:\n    hold.ensure()\n    1 / (not fails)"
        assert isinstance(await notebook.run(block), ZeroDivisionError)
        assert isinstance(await notebook.run(block), ZeroDivisionError)
        # Without a block the first run keeps the lock. The second one is told, and the hold is still there.
        bare = f"hold = {wait}lock.lock()\n1 / (not fails)\n{wait}hold.release()"
        assert isinstance(await notebook.run(bare), ZeroDivisionError)
        assert isinstance(await notebook.run(bare), busy)
        assert await notebook.run(f"{wait}hold.release()\nfails = False") is None
        assert await notebook.run(bare) is None
        assert await notebook.run(block) is None
    with client.lock(name, wait=0):
        pass


COUNTING = """
import multiprocessing, os, sys
import redlatch

client = redlatch.connect()  # of the module

def count(number):
    with client.lock(os.environ["NAME"], wait=20), open("counter", "r+") as file:
        counted = int(file.read())
        file.seek(0)
        file.write(str(counted + 1))
    return client.id

if __name__ == "__main__":
    here = count(0)
    with multiprocessing.get_context(sys.argv[1]).Pool(3) as pool:
        ids = set(pool.map(count, range(30), chunksize=1))
    print(here in ids, open("counter").read())
"""


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_client_of_a_module_serves_the_processes_of_each_start_method(folder: Folder, name: str, method: str) -> None:
    folder.write("counting.py", COUNTING)
    folder.write("counter", "0")
    assert folder.run("-W", "ignore::DeprecationWarning", "counting.py", method) == "False 31\n"


ONCE = """
import os
from pathlib import Path

import redlatch

client = redlatch.connect()
with client.lock(os.environ["NAME"], wait=20):
    if not Path("made").exists():
        with Path("made").open("a") as made:
            made.write("made\\n")
"""


def test_two_programs_that_import_a_module_with_a_lock_take_turns(folder: Folder, client: Client, name: str) -> None:
    folder.write("once.py", ONCE)
    with client.lock(name):
        programs = [folder.start("-c", "import once") for _ in range(2)]
        until_true(lambda: waiting(client, name) == 2, "two programs that wait")
    assert [(program.communicate(timeout=60)[0], program.returncode) for program in programs] == [("", 0)] * 2
    assert folder.read("made") == "made\n"


def waiting(client: Client, name: str) -> int:
    """How many clients wait for a lock that is held."""
    return sum(held.waiting or 0 for held in client.locks(name))


TASKS = """
import asyncio, os
from redlatch import aio

async def fails(client):
    while client.stats().waiting < 3:
        await asyncio.sleep(0.001)
    raise ValueError

async def main():
    async with aio.connect() as client:
        lock = client.lock(os.environ["NAME"])
        async with lock as hold:
            try:
                async with asyncio.timeout(0.1):
                    await lock.lock()
            except TimeoutError:
                print("out of time")
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(3):
                        group.create_task(lock.lock())
                    group.create_task(fails(client))
            except* ValueError as errors:
                print(len(errors.exceptions), "failed")
            hold.ensure()
        async with lock:
            print(client.stats().waiting, "wait")

asyncio.run(main())
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio of this Python has neither")
def test_a_timeout_and_a_task_group_of_asyncio_end_waits_and_leave_nothing(
    folder: Folder, view: View, name: str
) -> None:
    assert folder.run("-c", TASKS) == "out of time\n1 failed\n0 wait\n"
    assert view("EXISTS", name) == 0


INTERRUPTED = """
import asyncio, os
from redlatch import aio

async def main():
    async with aio.connect() as client, client.lock(os.environ["NAME"]):
        print("acquired")

try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_a_wait_of_asyncio_and_leaves_nothing(folder: Folder, client: Client, name: str) -> None:
    with client.lock(name), folder.start("-c", INTERRUPTED) as program:
        until_true(lambda: waiting(client, name) == 1, "a program that waits")
        program.send_signal(signal.SIGINT)
        assert program.communicate(timeout=20)[0] == "interrupted\n"
        until_true(lambda: waiting(client, name) == 0, "the end of the wait")
    with client.lock(name, wait=0):
        pass


class Guard:
    """An object that holds a lock as long as it lives."""

    def __init__(self, lock: redlatch.Lock) -> None:
        self.hold = lock.lock()
        self.other: Guard | None = None

    def __del__(self) -> None:
        self.hold.release()


def test_an_object_releases_its_lock_when_it_is_dropped_or_collected(client: Client, name: str) -> None:
    lock = client.lock(name, wait=0)
    guard = Guard(lock)
    del guard
    one, other = Guard(lock), Guard(client.lock(f"{name}:other", wait=0))
    one.other, other.other = other, one
    del one, other
    gc.collect()
    with lock, client.lock(f"{name}:other", wait=0):
        pass


PARENT = """
import os, subprocess, sys
import redlatch

CHILD = "import os, redlatch; redlatch.connect().lock(os.environ['NAME'], wait=0.5).lock()"

def run_child():
    ended = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True)
    return [ended.returncode, *ended.stderr.splitlines()[-1:]]

with redlatch.connect().lock(os.environ["NAME"]) as hold:
    print(*run_child())
    hold.ensure()
print(*run_child())
"""


def test_a_subprocess_does_not_get_the_lock_of_its_parent(folder: Folder, name: str) -> None:
    said = folder.run("-c", PARENT).splitlines()
    assert said == [
        matching(
            rf"1 redlatch\.errors\.NotAcquiredError: `{name}` was not .*: another owner holds it, of another client; .*"
        ),
        "0",
    ]


FORGOTTEN = """
import os, redlatch

client = redlatch.connect()
client.lock(os.environ["NAME"]).lock()
print(client.lock(os.environ["NAME"]).try_lock())
"""


def test_a_forgotten_with_is_a_warning_and_the_lock_ends_with_the_program(
    folder: Folder, view: View, name: str
) -> None:
    folder.write("forgotten.py", FORGOTTEN)
    said = folder.run("-X", "dev", "forgotten.py").splitlines()
    assert said[0] == matching(
        rf".*/forgotten.py:5: ResourceWarning: `{name}` is held by .*; release each hold, best by a `with` block"
    )
    assert said[-1] == "None"
    assert view("EXISTS", name) == 0
