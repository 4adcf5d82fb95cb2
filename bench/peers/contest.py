"""What every Python contestant does: time one call, then say how it went in one line of JSON."""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

Answer = TypeVar("Answer")


def timed(call: Callable[[], Answer]) -> tuple[Answer, float, float]:
    """The call's answer, its seconds, and the peak memory of the process so far."""
    started = time.perf_counter()
    answer = call()
    seconds = time.perf_counter() - started
    return answer, seconds, peak_mb()


def peak_mb() -> float:
    """The largest resident memory this process ever had (VmHWM), in 10^6 bytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


def tell(
    seconds: float,
    peak: float,
    version: str,
    quality: Mapping[str, float],
    weights: Sequence[float] = (),
    remark: str = "",
) -> None:
    """Prints the outcome for the harness."""
    outcome = {"seconds": seconds, "peak_mb": peak, "version": version, "quality": quality}
    print(json.dumps(outcome | {"weights": list(weights), "remark": remark}))


def main(contest: Callable[[list[str]], None]) -> None:
    """Runs a contest with the command's arguments; says so where a library is not installed."""
    try:
        contest(sys.argv[1:])
    except ModuleNotFoundError as missing:
        print(json.dumps({"missing": f"Python package {missing.name}"}))
