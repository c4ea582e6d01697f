# Stops a long job as soon as its lock is lost, and says why. Needs a server at REDLATCH_URL.
import logging
import sys
import threading

import redlatch

# The loss is a warning of the logger `redlatch.lost` as well.
logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(name)s: %(message)s")
stop = threading.Event()


def lost(hold: redlatch.Hold, error: redlatch.LockLostError) -> None:
    # Runs on a thread of redlatch's own: it tells the job to stop, and leaves the rest to the job.
    print(f"{hold.name}: {error.reason}")
    stop.set()


with redlatch.connect() as client, redlatch.connect() as operator:
    hold = client.lock("example:long-job", wait=5).lock()  # renewed until it is released, or lost
    hold.on_lost(lost)
    hold.ensure()  # LockLostError if it was lost already; asks nothing of Redis

    operator.lock("example:long-job").force_unlock()  # an operator opens the lock by force

    steps = 0
    while not stop.wait(0.01):
        steps += 1  # one step of the job
    print("the job has stopped")
    try:
        hold.release()
    except redlatch.LockLostError as late:
        print(late)  # with the time line: when it was acquired, renewed, noticed
