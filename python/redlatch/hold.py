"""One hold of a lock, for threads."""

from __future__ import annotations

from redlatch import _redlatch, calls, deferred, greenlets, losses
from redlatch.durations import Seconds, needed_lease, optional_seconds
from redlatch.errors import UnsupportedError
from redlatch.held import Held
from redlatch.losses import OnLost


class Hold(Held, _redlatch.Hold):
    """One acquired lock, always true. Any thread may release it, once.

    Properties are answered from this process's own clock, without a call to Redis.
    """

    def extend(self, lease: Seconds) -> None:
        """Lets the hold last for `lease` from now on, in seconds or as `timedelta`: longer, or shorter.

        A hold that the watchdog renews, or whose owner has other holds of the lock, lasts at least as long as before.

        Raises LockLostError if it was lost, NotHeldError if it was released, UnavailableError if Redis did not answer:
        then it ends with the earlier of both leases.
        """
        calls.answer(self._extend(needed_lease(lease)), self.name)

    def on_lost(self, callback: OnLost) -> None:
        """Calls `callback(hold, error)` once if the hold is lost. The LockLostError tells the cause.

        A thread of redlatch's own calls it as soon as this process knows of the loss, also if the hold is lost already.
        A release never calls it. Callbacks do not wait for each other: up to 64 of a process run at once, each on its
        own thread. An exception of a callback goes to `threading.excepthook`.

        Raises NotHeldError in a forked child of the process that acquired it, UnsupportedError for coroutine functions.
        """
        losses.check_callback(self.name, callback)
        if deferred.is_deferred(callback):
            raise UnsupportedError(f"{callback!r} would not run when it is called; give a plain function", self.name)
        if greenlets.are_threads():
            raise UnsupportedError(
                f"on_lost of `{self.name}`: gevent has greenlets take the place of threads, and the callbacks need a "
                "thread; ask `hold.lost`, or have a gevent.threadpool.ThreadPool wait: pool.apply(hold.wait_lost)",
                self.name,
            )
        self._refuse_in_a_fork()
        losses.watch(self, callback)

    def wait_lost(self, wait: Seconds | None = None) -> bool:
        """Waits until the hold is lost, and returns True. Returns False if it is released or `wait` is over before.

        `wait` is in seconds: None waits as long as the hold is held, 0 returns at once. Ctrl-C ends the wait.

        Raises NotHeldError in a forked child of the process that acquired it.
        """
        self._refuse_in_a_fork()
        within = optional_seconds("wait", wait, "None waits as long as it is held")
        if within != 0 and greenlets.has_own_owner() is not None:
            raise greenlets.would_block(self.name)
        outcome = self._wait(within)
        return self._loss(outcome) is not None

    def __repr__(self) -> str:
        return f"<redlatch.Hold of {self.name!r} by owner {self.owner}>"
