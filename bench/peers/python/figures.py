"""Lines of numbers: how an order is read, and how it is answered."""


def paired(times):
    """The answer about pairs, from the times of each caller."""
    took = sorted(time for own in times for time in own)
    p50, p99 = (took[int((len(took) - 1) * share)] for share in (0.5, 0.99))
    return f"pairs={len(took)} p50={p50} p99={p99}"


def crowded(shares):
    """The answer about a crowd, from the counts of each worker."""
    taken, longest = zip(*shares)
    return f"taken={numbers(taken)} longest={max(longest)}"


def numbers(values):
    return ",".join(map(str, values))


def parsed(line):
    """The order and its values."""
    what, *words = line.split()
    pairs = (word.split("=", 1) for word in words)
    return what, {name: value if name == "name" else int(value) for name, value in pairs}
