"""What every Python contestant does: time one call, then say how it went in one line of JSON."""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

Answer = TypeVar("Answer")


class Cost(NamedTuple):
    """What a call cost: seconds, those of the processor, and the peak memory of the process so far."""

    seconds: float
    cpu_seconds: float
    peak_mb: float


def timed(call: Callable[[], Answer]) -> tuple[Answer, Cost]:
    """The call's answer and its cost."""
    started, cpu_started = time.perf_counter(), time.process_time()
    answer = call()
    return answer, Cost(time.perf_counter() - started, time.process_time() - cpu_started, peak_mb())


def peak_mb() -> float:
    """The largest resident memory this process ever had (VmHWM), in 10^6 bytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


def tell(
    cost: Cost,
    version: str,
    quality: Mapping[str, float],
    answer: Sequence[float] = (),
    remark: str = "",
) -> None:
    """Prints the outcome for the harness."""
    outcome = {**cost._asdict(), "version": version, "quality": quality}
    print(json.dumps(outcome | {"answer": list(answer), "remark": remark}))


def main(contest: Callable[[list[str]], None]) -> None:
    """Runs a contest with the command's arguments; says so where a library is not installed."""
    try:
        contest(sys.argv[1:])
    except ModuleNotFoundError as missing:
        print(json.dumps({"missing": f"Python package {missing.name}"}))
