"""Which replicas or files must confirm a lock before an acquire returns."""

from __future__ import annotations

import reprlib
from typing import NamedTuple, Union

from redlatch.checks import shown
from redlatch.durations import Seconds, seconds
from redlatch.errors import ArgumentTypeError


# No data classes: their import takes longer than all the rest of `import redlatch`.
class Wait(NamedTuple):
    """An acquire returns when `replicas` of the server have confirmed it, within so many seconds (`WAIT`).

    Without the confirmation in time the lock is given back, and the acquire raises NotSyncedError. Releases and
    renewals do not wait for replicas. A failover loses a lock less often, but it still can.
    """

    replicas: int = 1
    within: Seconds = 1.0


class WaitAof(NamedTuple):
    """The same for files on disk: those of `replicas`, and with `local` the server's own (`WAITAOF`).

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
