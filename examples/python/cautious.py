# Bills a month under a lock of a server that may come back without its data. Such a server grants no lock for a lease,
# so that two never bill at a time. Needs a server at REDLATCH_URL; a server that has just started makes it wait.
import time

import redlatch

client = redlatch.connect(watchdog=2, quarantine=True)


def bill(month: str) -> bool:
    begun = time.monotonic()
    with client.lock(f"example:billing:{month}", wait=20) as hold:
        hold.ensure()
        print(f"billed {month}, after {time.monotonic() - begun:.1f} s")
        return True


with client:
    assert bill("2031-05")
