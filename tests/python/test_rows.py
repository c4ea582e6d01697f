"""Locks in a transaction of the program's own."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pymysql
import pytest

import redlatch
from eventually import until_true
from mariadb import Mariadb
from redlatch.rows import lock_row

TABLE = "CREATE TABLE IF NOT EXISTS redlatch_rows (name VARBINARY(255) PRIMARY KEY) ENGINE=InnoDB"


class Transactions:
    """Connections of one test, without autocommit."""

    def __init__(self, server: Mariadb) -> None:
        self._server = server
        self._open: list[Any] = []

    def connect(self, schema: str = "app", autocommit: bool = False) -> Any:
        connection = pymysql.connect(
            host="127.0.0.1",
            port=self._server.port,
            user="other",
            password="secret",
            database=schema,
            autocommit=autocommit,
        )
        self._open.append(connection)
        return connection

    def waiting(self) -> int:
        with self.connect(autocommit=True).cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'")
            return int(cursor.fetchone()[0])

    def close(self) -> None:
        for connection in self._open:
            connection.close()


@pytest.fixture
def transactions(mariadb: Mariadb) -> Iterator[Transactions]:
    opened = Transactions(mariadb)
    with opened.connect(autocommit=True).cursor() as cursor:
        cursor.execute(TABLE)
        cursor.execute("DELETE FROM redlatch_rows")
    yield opened
    opened.close()


@pytest.mark.parametrize("ends", ["commit", "rollback"])
@pytest.mark.parametrize("is_new", [True, False])
def test_a_row_is_locked_until_its_transaction_ends(transactions: Transactions, ends: str, is_new: bool) -> None:
    if not is_new:
        before = transactions.connect()
        lock_row(before.cursor(), "n")
        before.commit()
    (first, second) = (transactions.connect(), transactions.connect())
    lock_row(first.cursor(), "n")
    lock_row(first.cursor(), "n")
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(lock_row, second.cursor(), "n")
        until_true(lambda: transactions.waiting() == 1, "a transaction that waits")
        assert not waiting.done()
        getattr(first, ends)()
        waiting.result(20)
    second.commit()


def test_names_do_not_wait_for_each_other(transactions: Transactions) -> None:
    for name in ["n", "N", "n ", "ñ", "🔒" * 63]:
        lock_row(transactions.connect().cursor(), name)


def test_transactions_of_many_threads_lose_no_update_and_never_wait_for_each_other(transactions: Transactions) -> None:
    with transactions.connect(autocommit=True).cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS counted (name INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB")
        cursor.execute("REPLACE INTO counted (name, n) VALUES (0, 0), (1, 0), (2, 0), (3, 0)")
        for name in range(4):
            cursor.execute("INSERT INTO redlatch_rows (name) VALUES (%s)", (f"counted:{name}",))
    done = [0] * 8

    def work(thread: int, connection: Any) -> None:
        dice = random.Random(thread)
        for _ in range(60):
            name = dice.randrange(4)
            with connection.cursor() as cursor:
                lock_row(cursor, f"counted:{name}")
                cursor.execute("SELECT n FROM counted WHERE name = %s", (name,))
                (before,) = cursor.fetchone()
                cursor.execute("UPDATE counted SET n = %s WHERE name = %s", (before + 1, name))
                if dice.random() < 0.3:
                    connection.rollback()
                    continue
            connection.commit()
            done[thread] += 1

    threads = [threading.Thread(target=work, args=(n, transactions.connect())) for n in range(len(done))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with transactions.connect().cursor() as cursor:
        cursor.execute("SELECT SUM(n) FROM counted")
        assert cursor.fetchone()[0] == sum(done) > 200


def test_of_those_that_wait_for_a_new_row_one_has_it_when_its_maker_rolls_back(transactions: Transactions) -> None:
    (maker, *others) = (transactions.connect() for _ in range(5))

    def wait(connection: Any) -> bool:
        try:
            lock_row(connection.cursor(), "n")
        except pymysql.err.OperationalError as error:
            if error.args[0] != 1213:
                raise
            return False
        connection.commit()
        return True

    lock_row(maker.cursor(), "n")
    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(wait, other) for other in others]
        until_true(lambda: transactions.waiting() == len(others), "transactions that wait")
        maker.rollback()
        assert any(one.result(20) for one in waiting)
    # The row is there now, or its next maker makes it.
    lock_row(maker.cursor(), "n")


def test_a_connection_in_no_transaction_is_refused(transactions: Transactions) -> None:
    connection = transactions.connect(autocommit=True)
    with pytest.raises(redlatch.ConfigError, match="so the lock of row `n` would end at once") as told:
        lock_row(connection.cursor(), "n")
    assert told.value.name == "n"
    connection.begin()
    lock_row(connection.cursor(), "n")
    connection.rollback()


def test_a_schema_without_the_table_is_refused_with_the_statement_that_makes_it(transactions: Transactions) -> None:
    connection = transactions.connect("bare")
    with pytest.raises(redlatch.UnsupportedError, match="CREATE TABLE redlatch_rows") as told:
        lock_row(connection.cursor(), "n")
    connection.cursor().execute(str(told.value).split("make it by: ")[1])
    lock_row(connection.cursor(), "n")
    connection.cursor().execute("DROP TABLE redlatch_rows")


def test_a_name_that_is_too_long_is_refused(transactions: Transactions) -> None:
    cursor = transactions.connect().cursor()
    lock_row(cursor, "é" * 127)
    with pytest.raises(redlatch.ConfigError, match=r"may have 255 bytes, and `é+…` has 256; shorten it"):
        lock_row(cursor, "é" * 128)


@pytest.mark.parametrize("name", [None, 5, b"n", "\ud800"])
def test_a_name_that_is_no_text_is_refused(transactions: Transactions, name: Any) -> None:
    with pytest.raises(redlatch.ConfigError, match="name is"):
        lock_row(transactions.connect().cursor(), name)


def test_a_wait_that_is_over_is_the_drivers_error_and_leaves_the_transaction(transactions: Transactions) -> None:
    (first, second) = (transactions.connect(), transactions.connect())
    lock_row(first.cursor(), "n")
    second.cursor().execute("SET innodb_lock_wait_timeout = 1")
    lock_row(second.cursor(), "m")
    with pytest.raises(pymysql.err.OperationalError) as told:
        lock_row(second.cursor(), "n")
    assert told.value.args[0] == 1205
    third = transactions.connect()
    third.cursor().execute("SET innodb_lock_wait_timeout = 0")
    with pytest.raises(pymysql.err.OperationalError):
        lock_row(third.cursor(), "m")
    second.commit()
    lock_row(third.cursor(), "m")


def test_something_else_than_a_cursor_is_refused_with_the_remedy(transactions: Transactions) -> None:
    wrong: Any
    for wrong, remedy in ((None, "give a cursor: with"), (transactions.connect(), "give one of its cursors: with")):
        with pytest.raises(redlatch.ConfigError, match=remedy) as refused:
            lock_row(wrong, "n")
        assert isinstance(refused.value, TypeError)


class AwaitedCursor:
    """As cursors of asyncio's drivers are."""

    async def execute(self, query: str, args: Any = None) -> None:
        raise AssertionError(f"`{query}` reaches no server")


def test_a_cursor_whose_statements_are_awaited_is_refused() -> None:
    with pytest.raises(TypeError, match="whose execute is to be awaited"):
        lock_row(AwaitedCursor(), "orders:42")
