"""A MariaDB of the demo's own, and a look at it from the outside, by its command line."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from pathlib import Path

from server import Server
from topology import Topology

LEASE = 3  # seconds


class Mariadb(Server):
    """A running `mariadbd`, on a free port; it must be stopped. Every user may log in: it has no table of users."""

    def __init__(self, folder: Path) -> None:
        self.started.append(self)
        self._data, self._client = folder / "mariadb", _program("mariadb", "mysql")
        program = _program("mariadbd", "mysqld")
        for _ in range(20):
            self.port = random.randrange(20000, 30000)
            shutil.rmtree(self._data, ignore_errors=True)
            self._data.mkdir()
            command = [
                program,
                "--no-defaults",
                f"--datadir={self._data}",
                # A server that starts deletes the temporary tables that it finds, also those of other servers.
                f"--tmpdir={self._data}",
                f"--port={self.port}",
                "--bind-address=127.0.0.1",
                f"--socket={folder / 'mariadb.socket'}",
                f"--pid-file={folder / 'mariadb.pid'}",
                "--skip-grant-tables",
                "--innodb-buffer-pool-size=8M",
                "--innodb-log-file-size=4M",
                # By these the demo sees each lock of each session.
                "--performance-schema=ON",
                "--performance-schema-instrument=wait/lock/metadata/sql/mdl=ON",
                # The server refuses to run as root unless it is told to.
                *(["--user=root"] if os.geteuid() == 0 else []),
            ]
            with (folder / "mariadb.log").open("w") as log:
                # A session of its own: Ctrl-C must reach the demo only, which then ends everything in order.
                self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
            if self._is_up():
                return
            self.stop()
        raise SystemExit(f"{program} did not start on any of 20 ports from 20000 to 29999; start it by hand to see why")

    @property
    def url(self) -> str:
        return f"mariadb://demo@{self.address}"

    def query(self, statement: str) -> list[str]:
        """The rows that the server's own command line shows; the columns of each with a tab between them."""
        words = ["--no-defaults", "--protocol=tcp", "--host=127.0.0.1", f"--port={self.port}", "--user=outside"]
        said = subprocess.run(
            [self._client, *words, "--batch", "--skip-column-names", f"--execute={statement}"],
            capture_output=True,
            text=True,
            check=False,
        )
        if said.returncode != 0:
            raise ConnectionError(f"the server at {self.address} cannot be used: {said.stderr.strip()}")
        return said.stdout.splitlines()

    def _is_up(self) -> bool:
        give_up = time.monotonic() + 30
        while self.runs and time.monotonic() < give_up:
            try:
                # A server of another program may have this port: believe only our own.
                return self.query("SELECT @@datadir")[0].rstrip("/") == str(self._data)
            except ConnectionError:
                time.sleep(0.05)
        return False


class OneMariadb(Topology):
    """One MariaDB: the lock is one of its own, as `GET_LOCK` takes it, and lasts as long as a session."""

    lease = LEASE
    renewal = f"its session of {LEASE} s gives signs of life"
    rest = "its session ends with its connection"
    nothing = "no lock, no waiter, no session"

    def __init__(self, folder: Path) -> None:
        self.server = Mariadb(folder)

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def title(self) -> str:
        version = self.server.query("SELECT VERSION()")[0]
        return f"MariaDB {version.split('-')[0]} at {self.server.address}"

    def masters(self, name: str) -> list[str]:
        return [self.url]

    def kill_a_master(self, name: str) -> str | None:
        return None

    def remaining(self, name: str) -> float:
        return 0.0

    def forget(self, name: str) -> None:
        """The sessions of the workers end with them, and the server with the demo."""

    def leftovers(self, name: str) -> list[str]:
        """Each lock of the name that a session has or waits for, and the lock that marks a worker's session."""
        locks = (
            "SELECT CONCAT('lock ', object_name, ' (', lock_status, ')') FROM performance_schema.metadata_locks"
            f" WHERE object_type = 'USER LEVEL LOCK' AND (object_name LIKE '%{name}%' OR object_name LIKE 'redlatch:%')"
        )
        # The server closes the session of a worker that has just ended a moment later.
        give_up = time.monotonic() + 2
        while (left := self.server.query(locks)) and time.monotonic() < give_up:
            time.sleep(0.05)
        return left


def _program(*names: str) -> str:
    places = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin"
    for name in names:
        if found := shutil.which(name, path=places):
            return found
    raise SystemExit(f"there is no {names[0]}; run `make demo ENGINE=mysql`, which installs it")
