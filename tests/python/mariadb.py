"""A real server of MariaDB for the tests, on a free port, and connections of programs that know nothing of redlatch."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import pymysql

from servers import Private
from system import System

#: The statements that make the system's own tables, in their order.
TABLES = ["mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql"]
#: What every server has from its start: the user of our clients, the user of all other programs, one that may come by
#: TLS only, a schema with the tables of tokens and leaders and one without.
INIT = """
CREATE USER IF NOT EXISTS 'app'@'%' IDENTIFIED BY 'secret';
CREATE USER IF NOT EXISTS 'other'@'%' IDENTIFIED BY 'secret';
CREATE USER IF NOT EXISTS 'secured'@'%' IDENTIFIED BY 'secret' REQUIRE SSL;
GRANT ALL ON *.* TO 'app'@'%';
GRANT SELECT ON app.* TO 'secured'@'%';
GRANT ALL ON *.* TO 'other'@'%';
CREATE SCHEMA IF NOT EXISTS app;
CREATE SCHEMA IF NOT EXISTS bare;
CREATE TABLE IF NOT EXISTS app.redlatch_fence (name VARBINARY(255) PRIMARY KEY, token BIGINT NOT NULL) ENGINE=InnoDB;
CREATE TABLE IF NOT EXISTS app.redlatch_leader (name VARBINARY(255) PRIMARY KEY, token BIGINT NOT NULL,
 holder VARBINARY(255) NOT NULL, value MEDIUMBLOB NOT NULL) ENGINE=InnoDB;
"""


class Sql:
    """One session, by PyMySQL."""

    def __init__(self, port: int, timeout: float = 30) -> None:
        self._connection = pymysql.connect(
            host="127.0.0.1", port=port, user="other", password="secret", database="app", read_timeout=timeout
        )

    def __call__(self, statement: str, *values: object) -> Any:
        """The first value of the first row; None: `NULL`, or no row."""
        rows = self.rows(statement, *values)
        return rows[0][0] if rows else None

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, values or None)
            return list(cursor.fetchall())

    def lock(self, name: str, wait: float = 0) -> bool:
        return bool(self("SELECT GET_LOCK(%s, %s)", name, wait) == 1)

    def unlock(self, name: str) -> bool:
        return bool(self("SELECT RELEASE_LOCK(%s)", name) == 1)

    def holder(self, name: str) -> int | None:
        """The session that has the lock."""
        found = self("SELECT IS_USED_LOCK(%s)", name)
        return None if found is None else int(found)

    def held(self) -> list[str]:
        """The locks of all sessions of our clients, but for those that mark the sessions."""
        rows = self.rows(
            "SELECT object_name FROM performance_schema.metadata_locks"
            " JOIN performance_schema.threads ON owner_thread_id = thread_id"
            " WHERE object_type = 'USER LEVEL LOCK' AND processlist_user = 'app' AND lock_status = 'GRANTED'"
        )
        return sorted(name for (name,) in rows if not name.startswith("redlatch:"))

    def waiting(self) -> int:
        """How many sessions wait for a lock."""
        return int(self("SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock'"))

    def sessions(self) -> list[int]:
        """The sessions of our clients."""
        return [id for (id,) in self.rows("SELECT id FROM information_schema.processlist WHERE user = 'app'")]

    def kill(self, session: int | None) -> None:
        """Ends a session, as an administrator does."""
        self("KILL %s", session)

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Sql:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Mariadb(Private):
    """A running `mariadbd`, or the program that `REDLATCH_TEST_MARIADB` names."""

    def __init__(self, more: Sequence[str] = ()) -> None:
        """`more` are further words of the command line."""
        self._more = more
        super().__init__("mariadb", within=60)

    @property
    def url(self) -> str:
        return self.url_of()

    def url_of(self, user: str = "app", password: str = "secret", schema: str = "app") -> str:
        """The URL of a client that logs in so."""
        return f"mariadb://{user}:{password}@127.0.0.1:{self.port}/{schema}"

    def sql(self, timeout: float = 30) -> Sql:
        """A session of another program."""
        return Sql(self.port, timeout)

    def _command(self) -> list[str]:
        if not (self.home / "data").exists():
            shutil.copytree(prepared(), self.home / "data")
            (self.home / "init.sql").write_text(INIT)
        return [
            *program(),
            f"--datadir={self.home / 'data'}",
            # A server that starts deletes the temporary tables that it finds, also those of other servers.
            f"--tmpdir={self.home}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--socket={self.home / 'socket'}",
            f"--pid-file={self.home / 'pid'}",
            f"--init-file={self.home / 'init.sql'}",
            "--innodb-flush-log-at-trx-commit=0",
            # By these the tests see each lock of each session.
            "--performance-schema=ON",
            "--performance-schema-instrument=wait/lock/metadata/sql/mdl=ON",
            *self._more,
        ]

    def _answers(self) -> bool | None:
        try:
            with self.sql(timeout=5) as sql:
                return str(sql("SELECT @@datadir")).rstrip("/") == str(self.home / "data")
        except pymysql.Error:
            return None


class Site(System):
    """The server of MariaDB as one test sees it."""

    LOCKS = ("lock", "get_lock", "get_non_reentrant_lock", "get_fenced_lock")
    REENTRANT = ("get_lock", "get_fenced_lock")
    NON_REENTRANT = ("get_non_reentrant_lock",)
    ENDS_WITH_CONNECTION = True
    ENDED = ("session ended",)
    # Another client can only end the whole session of the holder.
    FORCED = ("deleted", "session ended")

    def __init__(self, server: Mariadb, sql: Sql) -> None:
        self.server = server
        self.sql = sql

    @property
    def url(self) -> str:
        return self.server.url

    def holder(self, name: str) -> int | None:
        return self.sql.holder(name)

    def waiting(self, name: str) -> int:
        """The server does not tell for which lock a session waits."""
        return self.sql.waiting()

    def sessions(self) -> list[int]:
        return self.sql.sessions()

    def end(self, session: int | None) -> None:
        self.sql.kill(session)

    def is_empty(self) -> bool:
        return not self.sql.held() and not self.sql.waiting()

    def check_left(self) -> None:
        assert self.sql.held() == []
        super().check_left()


def program() -> list[str]:
    """The program, and the words that every run of it has."""
    places = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin"
    found = os.environ.get("REDLATCH_TEST_MARIADB") or shutil.which("mariadbd", path=places)
    assert found, "mariadbd is not there; .ci/setup installs it"
    words = [
        "--no-defaults",
        "--innodb-buffer-pool-size=8M",
        "--innodb-log-file-size=4M",
        "--skip-log-bin",
        "--skip-name-resolve",
    ]
    # The server refuses to run as root unless it is told to.
    return [found, *words, *(["--user=root"] if os.geteuid() == 0 else [])]


@functools.cache
def prepared() -> Path:
    """The data directory that every server begins with. The first test that needs it prepares it, also for Rust's."""
    said = subprocess.run([*program()[:1], "--version"], capture_output=True, text=True, check=True).stdout
    version = "".join(letter for letter in said if letter.isascii() and letter.isalnum())
    ready = Path(tempfile.gettempdir()) / f"redlatch-mariadb-{version}"
    if (ready / "mysql").exists():
        return ready
    own = Path(f"{ready}-{os.getpid()}")
    own.mkdir()
    statements = "CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n"
    statements += "".join((Path("/usr/share/mysql") / table).read_text() for table in TABLES)
    # The performance schema is off while its tables are made, as in the tests of Rust.
    words = ["--performance-schema=OFF", "--bootstrap", "--log-warnings=0", f"--datadir={own}", f"--tmpdir={own}"]
    subprocess.run([*program(), *words], input=statements.encode(), capture_output=True, check=True)
    try:
        own.rename(ready)
    except OSError:
        # Another program was faster.
        shutil.rmtree(own)
    return ready
