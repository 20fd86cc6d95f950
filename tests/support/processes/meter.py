"""What a request costs a server process: CPU time and memory, read from /proc.

CPU time and not elapsed time: other programs of the machine do not count. Import nothing of the project here:
the hooks of schemathesis load this module.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

CPU_SECONDS = 1.0
"""Most CPU time of one request. The slowest useful ones take 0.3 s; the findings of the review took 0.6 s to days."""

GROWTH = 256 << 20
"""Most bytes by which the memory of a server may grow over all requests of a suite."""

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Meter:
    """Reads what a process has used. `start` is its memory when the meter was made, in bytes."""

    pid: int
    start: int = 0

    def __post_init__(self) -> None:
        self.start = self.memory()

    def cpu(self) -> float:
        """Seconds of CPU time of all threads so far."""
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def memory(self) -> int:
        """Bytes in memory now."""
        with open(f"/proc/{self.pid}/status") as file:
            line = next(line for line in file if line.startswith("VmRSS:"))
        return int(line.split()[1]) << 10

    def complaint(self, before: float, cpu_seconds: float = CPU_SECONDS, growth: int = GROWTH) -> str:
        """What exceeds its bound since `before` (a reading of `cpu`); empty when nothing does."""
        used, grown = self.cpu() - before, self.memory() - self.start
        if used > cpu_seconds:
            return f"the server used {used:.2f} s of CPU time for one request; the bound is {cpu_seconds:g} s"
        if grown > growth:
            return f"the server's memory has grown by {grown >> 20} MiB; the bound is {growth >> 20} MiB"
        return ""
