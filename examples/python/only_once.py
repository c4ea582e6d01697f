# Runs a nightly job on one machine out of many: the second machine leaves at once. Needs a server at REDLATCH_URL.
import threading

import redlatch

with redlatch.connect() as client:
    job = client.lock("example:nightly-report", lease=60)  # ends by itself after 60 s, even if its machine dies

    def machine(name: str) -> None:
        hold = job.try_lock()  # a Hold, or None if another machine has it
        print(f"{name}: {'I do it' if hold else 'another machine does it already'}")

    first = threading.Thread(target=machine, args=("machine 1",))
    first.start()
    first.join()
    machine("machine 2")
    job.force_unlock()  # tidies up for the next run of this example
