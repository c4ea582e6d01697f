"""A Redis of the demo's own, on a free port, with nothing on disk."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from pathlib import Path
from typing import ClassVar

from connection import ask


class Server:
    """A running process; it must be stopped."""

    started: ClassVar[list[Server]] = []

    def __init__(self, folder: Path, *options: str, sentinel: str = "") -> None:
        """`options` are more words of the command line; with `sentinel`, the text of its file, it is a sentinel."""
        self.started.append(self)
        for _ in range(20):
            self.port, self.bus = random.sample(range(20000, 30000), 2)
            own = folder / str(self.port)
            own.mkdir(exist_ok=True)
            words = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(own)]
            if sentinel:
                (own / "sentinel.conf").write_text(sentinel)
                command = [_program(), str(own / "sentinel.conf"), "--sentinel", *words]
            else:
                more = [str(self.bus) if word == "BUS" else word for word in options]
                command = [_program(), *words, "--save", "", *more]
            # A session of its own: Ctrl-C must reach the demo only, which then ends everything in order.
            self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
            if self._is_up():
                return
            self.stop()
        raise SystemExit(
            f"{command[0]} did not start on any of 20 ports from 20000 to 29999; start it by hand to see why"
        )

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"redis://{self.address}"

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def ask(self, *words: str) -> object:
        """One command, on a connection of its own."""
        return ask(self.url, *words)

    def stop(self) -> None:
        """Kills it, as `kill -9` does."""
        self._process.kill()
        self._process.wait()

    def _is_up(self) -> bool:
        give_up = time.monotonic() + 5
        while self.runs and time.monotonic() < give_up:
            try:
                # A server of another program may have this port: believe only our own.
                return f"process_id:{self._process.pid}\r" in str(self.ask("INFO", "server"))
            except ConnectionError:
                time.sleep(0.01)
        return False


def _program() -> str:
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        raise SystemExit("neither redis-server nor valkey-server is on the PATH; run `make demo`, which installs one")
    return program
