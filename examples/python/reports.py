# Makes each day's report once, even if many threads ask for it: every call of a decorated function holds the lock of
# its own arguments. Needs a server at REDLATCH_URL.
import datetime
import threading

import redlatch

client = redlatch.connect()
reports: dict[datetime.date, str] = {}


@client.lock("example:report:{day:%Y-%m-%d}", wait=30)
def report(day: datetime.date) -> str:
    if day not in reports:
        print(f"making the report of {day}")
        reports[day] = f"all is well on {day:%A}"
    return reports[day]


with client:
    days = [datetime.date(2026, 11, 20), datetime.date(2026, 11, 21)] * 4
    threads = [threading.Thread(target=report, args=(day,)) for day in days]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reports) == 2
    print(report(days[0]))
