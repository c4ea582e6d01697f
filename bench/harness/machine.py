"""Processes as the system sees them: their allowed CPUs, their CPU time, their memory and threads."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

CPUS = sorted(os.sched_getaffinity(0))


def pin(pid: int, cpus: list[int]) -> None:
    """Lets every thread of a process, and threads that these start, run on these CPUs only, as `taskset -a -p` does."""
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(ProcessLookupError):  # the thread has ended
                os.sched_setaffinity(int(task.name), cpus)
    except FileNotFoundError:
        return  # so has the process


def cpu_seconds(pid: int) -> float:
    """CPU time of all threads of a process, ended ones included; to the nanosecond, unlike /proc."""
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e9


def lives(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def family(pid: int) -> list[int]:
    """A process and all its descendants."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = entry.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents[int(entry.parent.name)] = int(words[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def busy_seconds() -> float:
    """CPU time that all processes of this machine, and other machines of its host, have used, in ticks of 10 ms."""
    user, nice, system, _idle, _io, irq, softirq, stolen = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + softirq + stolen) / os.sysconf("SC_CLK_TCK")


def status(pid: int) -> dict[str, int]:
    """The numbers of /proc/<pid>/status, such as `VmRSS` in KiB and `Threads`."""
    lines = (line.split() for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {words[0].rstrip(":"): int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}
