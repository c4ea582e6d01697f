"""Lines of numbers: how an order is read, and how it is answered."""


def paired(times):
    """The answer about pairs, from the times of each caller."""
    took = sorted(time for own in times for time in own)
    return f"pairs={len(took)} {spread(took)}"


def crowded(waits):
    """The answer about a crowd, from the waits of each worker."""
    all_waits = sorted(wait for own in waits for wait in own) or [0]
    return f"taken={numbers(map(len, waits))} {spread(all_waits)} longest={all_waits[-1]}"


def spread(times):
    """The median and the 99th percentile of sorted times."""
    p50, p99 = (times[int((len(times) - 1) * share)] for share in (0.5, 0.99))
    return f"p50={p50} p99={p99}"


def numbers(values):
    return ",".join(map(str, values))


class Owners:
    """Counts how often a lock has another owner than before. The measured lock protects it."""

    def __init__(self):
        self.last = None
        self.changes = 0

    def took(self, worker):
        if self.last not in (None, worker):
            self.changes += 1
        self.last = worker


def parsed(line):
    """The order and its values."""
    what, *words = line.split()
    pairs = (word.split("=", 1) for word in words)
    return what, {name: value if name == "name" else int(value) for name, value in pairs}
