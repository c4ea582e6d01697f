#!/usr/bin/env python3
"""Gives every order of bench/README.md to programs of target/bench, on servers of its own: `check.py [PEER...]`.

It prints what each answered: whether it can, not how fast, since nothing is warmed and a window lasts `SECONDS=0.25`.
"""

import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LAUNCHERS = Path(__file__).resolve().parents[2] / "target/bench"
ENGINES = {"curator": "zookeeper", "mariadb": "mariadb", "postgres": "postgres", "etcd": "etcd"}
SECONDS = float(os.environ.get("SECONDS", 0.25))
PATIENCE = 60


class Program:
    def __init__(self, peer, url):
        log = (LAUNCHERS / "check.log").open("ab")
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([LAUNCHERS / peer, url], stdin=pipe, stdout=pipe, stderr=log, text=True)

    def tell(self, order, **values):
        words = [order, *(f"{name.rstrip('_')}={value}" for name, value in values.items())]
        print(*words, file=self.process.stdin, flush=True)

    def hear(self):
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            raise TimeoutError("no answer")
        line = self.process.stdout.readline()
        if not line:
            raise EOFError("ended")
        return {name: [int(n) for n in text.split(",")] for name, text in (word.split("=") for word in line.split())}

    def ask(self, order, **values):
        self.tell(order, **values)
        return self.hear()

    def close(self):
        try:
            self.process.stdin.close()
            self.process.wait(5)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self.process.kill()
            return "BROKEN"
        return "ends"


def window():
    start = time.monotonic_ns() + 30_000_000
    return {"from_": start, "until": start + int(SECONDS * 1e9)}


def rate(answer):
    return f"{sum(answer.get('pairs', answer.get('taken'))) / SECONDS:,.0f}/s"


def alone():
    """Orders to one program, and what is shown of each answer."""
    yield "first", {"name": "check:f"}, lambda answer: str(answer["pairs"][0] == 1)
    yield "solo", {"name": "check:s"}, lambda answer: f"{answer['p50'][0] / 1e3:.0f} µs"
    yield "own", {"name": "check:o", "callers": 64}, rate
    yield "crowd", {"name": "check:c", "workers": 16}, rate
    yield "readers", {"name": "check:r", "workers": 16, "writes": 10}, rate
    yield "permits", {"name": "check:p", "permits": 10, "workers": 40}, rate


def asked(program, what, values, shown):
    if what != "first":
        program.ask(what, **values, **window())  # so that connections are open and threads have been
        values = {**values, **window()}
    answer = program.ask(what, **values)
    return "cannot" if "cannot" in answer else shown(answer)


def handed_over(one, other):
    """Whether never both had the lock."""
    for starts, program in enumerate((one, other)):
        program.tell("handover", name="check:h", times=5, hold=12, gap=4, starts=starts)
    answers = [program.hear() for program in (one, other)]
    spans = sorted(span for answer in answers for span in zip(answer["taken"], answer["released"]))
    assert len(spans) == 10, spans
    assert all(before[1] <= after[0] for before, after in zip(spans, spans[1:])), f"both had it: {spans}"
    return "True"


def woken(one, other, waiters=50):
    one.ask("take", name="check:w")
    asked = other.ask("wait", name="check:w", waiters=waiters)
    released = one.ask("drop")["released"][0]
    answer = other.ask("woken")
    assert (asked["waiting"], answer["woken"]) == ([waiters], [waiters]), (asked, answer)
    assert answer["last"][0] > released, "one had it before it was released"
    return f"{(answer['last'][0] - released) / 1e6:.0f} ms"


def held(peer, url, locks=20):
    """Whether it still has them after more than two leases."""
    program = Program(peer, url + "?watchdog=4")
    try:
        if "cannot" in program.ask("hold", name="check:k", locks=locks):
            return "cannot"
        time.sleep(9)
        return f"{program.ask('held')['held'][0]} of {locks}"
    finally:
        program.close()


def tried(work, *arguments):
    try:
        return work(*arguments)
    except (AssertionError, OSError, EOFError, KeyError, ValueError) as e:
        return f"BROKEN {type(e).__name__} {e}"[:60]


def check(peer, url):
    one, other = Program(peer, url), Program(peer, url)
    try:
        for what, values, shown in alone():
            yield what, tried(asked, one, what, values, shown)
        yield "handover", tried(handed_over, one, other)
        yield "woken", tried(woken, one, other)
        yield "held", tried(held, peer, url)
        yield "end", one.close()
    finally:
        one.process.kill()
        other.process.kill()


def free_port():
    with socket.socket() as candidate:
        candidate.bind(("127.0.0.1", 0))
        return candidate.getsockname()[1]


def listening(port, process):
    """Waits until a server answers; a minute at most."""
    for _ in range(600):
        assert process.poll() is None, "the server ended"
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.1)
    raise TimeoutError("the server does not listen")


def serve(engine, peers):
    port, folder = free_port(), tempfile.mkdtemp()
    redis = f"redis-server --port {port} --bind 127.0.0.1 --dir {folder} --maxclients 20000 --save".split()
    words = [*redis, ""] if engine == "redis" else [LAUNCHERS / f"server-{engine}", str(port), folder]
    log = (LAUNCHERS / "check.log").open("ab")
    server = subprocess.Popen(words, stdout=log, stderr=log)
    try:
        listening(port, server)
        for peer in peers:
            started = time.monotonic()
            parts = [f"{what} {said}" for what, said in check(peer, f"{engine}://127.0.0.1:{port}")]
            print(f"{peer}: {'; '.join(parts)} ({time.monotonic() - started:.0f} s)", flush=True)
    finally:
        server.terminate()
        server.wait(30)
        shutil.rmtree(folder)


def main():
    programs = {path.name for path in LAUNCHERS.iterdir() if path.is_file() and os.access(path, os.X_OK)}
    peers = sys.argv[1:] or sorted(peer for peer in programs if not peer.startswith("server-") and peer != "floor")
    for engine in dict.fromkeys(ENGINES.get(peer, "redis") for peer in peers):
        serve(engine, [peer for peer in peers if ENGINES.get(peer, "redis") == engine])


if __name__ == "__main__":
    main()
