# A table that refuses a writer whose lock is over: the update compares the fencing token. SQLite stands for any
# database; in PostgreSQL the statement is the same. Needs a server at REDLATCH_URL.
import sqlite3

import redlatch

store = sqlite3.connect(":memory:")
store.execute("create table ledger (id integer primary key, balance integer not null, last_token integer not null)")
store.execute("insert into ledger values (7, 100, 0)")


def balance() -> int:
    return int(store.execute("select balance from ledger where id = 7").fetchone()[0])


def write(new: int, hold: redlatch.Hold) -> bool:
    """Whether the table took it. The hold is not asked: the table knows better."""
    with store:
        statement = "update ledger set balance = ?, last_token = ? where id = 7 and last_token <= ?"
        return store.execute(statement, (new, hold.token, hold.token)).rowcount == 1


with redlatch.connect() as first, redlatch.connect() as second:
    paused = first.get_fenced_lock("example:ledger:7", wait=5).lock()
    seen = balance()

    # While the first process stands still its lock is lost; here an operator takes it.
    second.get_fenced_lock("example:ledger:7").force_unlock()
    with second.get_fenced_lock("example:ledger:7", wait=5) as hold:
        assert write(balance() - 10, hold)
        assert write(balance() - 10, hold)  # the same holder writes again

    # The first process goes on with what it read before.
    print(f"the old writer is refused: {not write(seen - 50, paused)}")
    print(f"the balance is {balance()}")
    assert balance() == 80
