"""A ZooKeeper of the demo's own, and a look at it from the outside, by its four-letter words."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import time
from pathlib import Path

from server import Server
from topology import Topology

SESSION = 3  # seconds
PROGRAM = Path(__file__).resolve().parents[2] / "tests" / "zookeeper" / "server"


class Zookeeper(Server):
    """A running server, on a free port; it must be stopped."""

    def __init__(self, folder: Path) -> None:
        self.started.append(self)
        self._folder, log = folder / "zookeeper", folder / "zookeeper.log"
        for _ in range(20):
            self.port = random.randrange(20000, 30000)
            shutil.rmtree(self._folder, ignore_errors=True)
            command = [str(PROGRAM), str(self._folder), str(self.port)]
            with log.open("w") as output:
                # A session of its own: Ctrl-C must reach the demo only, which then ends everything in order.
                self._process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
            if self._is_up():
                return
            self.stop()
            if "setup" in log.read_text():
                raise SystemExit("there is no ZooKeeper; run `make demo ENGINE=zookeeper`, which installs it")
        raise SystemExit(f"{PROGRAM} did not start on any of 20 ports from 20000 to 29999; start it by hand to see why")

    @property
    def url(self) -> str:
        return f"zookeeper://{self.address}"

    def word(self, command: str, within: float = 5) -> str:
        """The answer to a command of four letters, such as `srvr`."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=within) as connection:
                connection.sendall(command.encode())
                return b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        except OSError as error:
            raise ConnectionError(f"the server at {self.address} cannot be used: {error}") from error

    def _is_up(self) -> bool:
        begun = time.monotonic()
        while self.runs and time.monotonic() < begun + 60:
            try:
                # A server that is not quite ready leaves a question without an answer, for ever.
                patience = max((time.monotonic() - begun) / 4, 0.1)
                # A server of another program may have this port: believe only our own.
                is_ours = f"dataDir={self._folder}/" in self.word("conf", patience)
                if is_ours and "Mode: " in self.word("srvr", patience):
                    return True
            except ConnectionError:
                pass
            time.sleep(0.02)
        return False


class OneZookeeper(Topology):
    """One ZooKeeper: the lock is a queue of nodes, each of which lasts as long as the session of its worker."""

    lease = SESSION
    renewal = f"its session of {SESSION} s gives signs of life"
    rest = f"its session ends {SESSION} s after its last sign of life"
    session = SESSION
    nothing = "no node of a lock or a waiter"

    def __init__(self, folder: Path) -> None:
        self.server = Zookeeper(folder)

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def title(self) -> str:
        version = self.server.word("srvr").partition("version: ")[2].partition("-")[0]
        return f"ZooKeeper {version} at {self.server.address}"

    def masters(self, name: str) -> list[str]:
        return [self.url]

    def kill_a_master(self, name: str) -> str | None:
        return None

    def remaining(self, name: str) -> float:
        return 0.0

    def forget(self, name: str) -> None:
        """The nodes of the workers end with their sessions, and the server with the demo."""

    def leftovers(self, name: str) -> list[str]:
        """Each node of a session below the path of the lock."""
        # A worker that has just ended may have left its session to end by itself.
        give_up = time.monotonic() + SESSION + 2
        while (left := self._nodes(name)) and time.monotonic() < give_up:
            time.sleep(0.05)
        return left

    def _nodes(self, name: str) -> list[str]:
        told = self.server.word("dump").partition("ephemeral nodes dump")[2].partition("Connections dump")[0]
        return [f"node {word}" for word in told.split() if word.startswith(f"/{name}")]
