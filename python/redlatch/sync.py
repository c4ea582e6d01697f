"""What has to have a lock before an acquire returns."""

from __future__ import annotations

import reprlib
from typing import NamedTuple, Union

from redlatch.durations import Seconds, seconds
from redlatch.errors import ArgumentTypeError
from redlatch.texts import shown


# No data classes: what those import takes longer than all else of `import redlatch`.
class Wait(NamedTuple):
    """`replicas` of the server have it, within so many seconds, before an acquire returns (`WAIT`).

    What is not confirmed in time is given back, and the acquire raises NotSyncedError. Releases and renewals wait for
    nobody. It makes it less likely that a failover loses a lock, and cannot rule it out.
    """

    replicas: int = 1
    within: Seconds = 1.0


class WaitAof(NamedTuple):
    """The same, of files on disk: those of `replicas`, and with `local` the server's own (`WAITAOF`).

    It needs Redis 7.2 or Valkey, with `appendonly yes`.
    """

    replicas: int = 1
    within: Seconds = 1.0
    local: bool = True


Sync = Union[Wait, WaitAof]


def option(sync: Sync | None) -> str | None:
    """The core's option as text; None leaves it out."""
    if sync is None:
        return None
    if not isinstance(sync, (Wait, WaitAof)):
        raise ArgumentTypeError(
            f"sync is {shown('sync', sync)}; give a redlatch.Wait or a redlatch.WaitAof, or leave it out"
        )
    if isinstance(sync.replicas, bool) or not isinstance(sync.replicas, int):
        raise ArgumentTypeError(f"the replicas of sync are {reprlib.repr(sync.replicas)}; give an int, such as 1")
    replicas = sync.replicas if abs(sync.replicas) < 2**32 else reprlib.repr(sync.replicas)
    settings = f"replicas={replicas},within={seconds('within', sync.within, 'leave it out for 1 s')}"
    return f"wait({settings})" if isinstance(sync, Wait) else f"wait_aof({settings},local={int(bool(sync.local))})"
