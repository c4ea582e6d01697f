"""What the system knows of processes: the CPUs they may use, the CPU time they have used, their memory and threads."""

from __future__ import annotations

import os
import time
from pathlib import Path

CPUS = sorted(os.sched_getaffinity(0))


def pin(pid: int, cpus: list[int]) -> None:
    """Lets every thread of a process, and those that they start, run on these CPUs only; what `taskset -a -p` does."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            os.sched_setaffinity(int(task.name), cpus)
        except ProcessLookupError:
            continue  # the thread has ended


def cpu_seconds(pid: int) -> float:
    """What all threads of a process have used, those that have ended included; to the nanosecond, unlike /proc."""
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e9


def busy_seconds() -> float:
    """What all processes of the machine have used of all its CPUs, in ticks of 10 ms."""
    user, nice, system, _idle, _io, irq, softirq = map(int, Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def status(pid: int) -> dict[str, int]:
    """The numbers of /proc/<pid>/status, such as `VmRSS` in KiB and `Threads`."""
    lines = (line.split() for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {words[0].rstrip(":"): int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}
