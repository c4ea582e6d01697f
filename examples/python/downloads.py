# At most three downloads at once, however many processes there are: each takes a permit, which ends by itself if
# its process dies. Needs a server at REDLATCH_URL.
import threading
import time

import redlatch

with redlatch.connect() as client:
    downloads = client.get_permit_expirable_semaphore("example:downloads")
    downloads.try_set_permits(3)  # without this there are none, and every acquire waits

    def download(file: int) -> None:
        with downloads.acquire(lease=60) as permit:  # a str: the id by which any program can release it
            print(f"file {file} under permit {permit}")
            time.sleep(0.02)

    threads = [threading.Thread(target=download, args=(file,)) for file in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    # A job of unknown length: this permit is renewed while the process lives, and its holder is told of a loss.
    with downloads.acquire(renew=True) as permit:
        assert permit.hold is not None
        permit.hold.ensure()

    print(f"{downloads.available_permits()} of {downloads.get_permits()} permits are there again")
