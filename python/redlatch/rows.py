"""A lock in a transaction of the program's own, on its own connection to MariaDB or MySQL.

The lock is a row of the table `redlatch_rows`, in the schema of the connection. It ends with the transaction, at the
same moment as the transaction's writes take effect: no lease, no network and no pause can come in between. So it is the
stronger one where the guarded data is in that database. Locks of a client, such as `client.lock("orders:42")`, know
nothing of it. On Galera, and in a group with several primaries, it excludes only transactions of the same node.

    from redlatch.rows import lock_row

    with connection.cursor() as cursor:
        lock_row(cursor, "orders:42")
        cursor.execute("update orders set charged = true where id = 42")
    connection.commit()

The table is made once:

    CREATE TABLE redlatch_rows (name VARBINARY(255) PRIMARY KEY) ENGINE=InnoDB

Each name leaves a row of its own there, which the first transaction with that name makes. If that one rolls back, or
another one deletes the row, while several wait for it, the server ends all of these but one with its error of a
deadlock (1213): begin such a transaction again, as after any deadlock. Rows that are there before know no such error.

Lock before the transaction reads anything: at the usual isolation level, REPEATABLE READ, it goes on to see what was
there at its first read.
"""

from __future__ import annotations

import inspect
from typing import Any, Protocol

from redlatch.checks import checked_text, shown
from redlatch.errors import ArgumentTypeError, ConfigError, UnsupportedError

__all__ = ["Cursor", "lock_row"]

_LONGEST = 255
_SAVEPOINT = "redlatch_row"
# One statement: it takes the row's lock at once, whether it finds the row or makes it. To make the row first and lock
# it then would take two locks, and transactions that do so at the same time would wait for each other.
_LOCK = "INSERT INTO redlatch_rows (name) VALUES (%s) ON DUPLICATE KEY UPDATE name = name"
# The numbers of the servers' errors.
_NO_SAVEPOINT = 1305
_NO_TABLE = 1146


class Cursor(Protocol):
    """A cursor of a driver that writes parameters as `%s`: of PyMySQL, mysqlclient or MySQL Connector/Python."""

    def execute(self, query: str, args: Any = ..., /) -> Any: ...


def lock_row(cursor: Cursor, name: str) -> None:
    """Locks a name until the cursor's transaction ends, by a commit or a rollback.

    A name that another transaction has locked is waited for: for `innodb_lock_wait_timeout` of the connection, 50 s
    unless the program sets it. Then the driver raises its error 1205, and the transaction goes on without the lock. Two
    transactions that lock the same names in different orders may wait for each other: then the server ends one of them,
    and the driver raises its error 1213. All other errors of the driver come through as well.

    A transaction may lock a name again: that changes nothing.

    Raises:
        ArgumentTypeError: the cursor is none, or the name is no str.
        ConfigError: the connection is in no transaction, because it commits by itself; or the name is longer than 255
            bytes.
        UnsupportedError: the schema has no table `redlatch_rows`.
    """
    if not callable(getattr(cursor, "execute", None)):
        remedy = "give one of its cursors" if callable(getattr(cursor, "cursor", None)) else "give a cursor"
        raise ArgumentTypeError(
            f"cursor is {shown('cursor', cursor)}; {remedy}: with connection.cursor() as cursor: lock_row(cursor, name)"
        )
    key = checked_text("name", name).encode()
    if len(key) > _LONGEST:
        raise ConfigError(
            f"a row's name may have {_LONGEST} bytes, and `{name[:40]}…` has {len(key)}; shorten it", name
        )
    try:
        # It lasts only in a transaction.
        begun = cursor.execute(f"SAVEPOINT {_SAVEPOINT}")
        if inspect.isawaitable(begun):
            # Nothing would send the statements.
            if inspect.iscoroutine(begun):
                begun.close()
            raise ArgumentTypeError(
                f"cursor is {shown('cursor', cursor)}, whose execute is to be awaited;"
                " give the cursor of a blocking driver"
            )
        cursor.execute(f"RELEASE SAVEPOINT {_SAVEPOINT}")
    except Exception as error:
        if _number(error) != _NO_SAVEPOINT:
            raise
        raise ConfigError(
            f"the connection is in no transaction, so the lock of row `{name}` would end at once; begin a transaction,"
            " or switch autocommit off",
            name,
        ) from error
    try:
        cursor.execute(_LOCK, (key,))
    except Exception as error:
        if _number(error) != _NO_TABLE:
            raise
        raise UnsupportedError(
            f"the lock of row `{name}` needs a table in the schema of the connection; make it by: CREATE TABLE"
            f" redlatch_rows (name VARBINARY({_LONGEST}) PRIMARY KEY) ENGINE=InnoDB",
            name,
        ) from error


def _number(error: Exception) -> object:
    """The server's number of an error, which every driver has in the first place."""
    return error.args[0] if error.args else None
