"""The race: contestants run by turns on the same cores, each run in a process of its own.

A contestant is a command that prints one line of JSON when it is done::

    {"seconds": 0.02, "peak_mb": 31.5, "version": "SciPy 1.17.1", "quality": {"iterations": 9}, "answer": [0.3, 0.7]}

`seconds` is measured inside the process around the call alone, and so are `cpu_seconds`, which tell more where the
machine is shared; `peak_mb` is its VmHWM, everything included. `cpu_seconds`, `answer` and `remark` are optional, and
`{"missing": "R package mixsqp"}` says that a peer is not installed. Nothing a contestant does (not there, failing, too
slow) ends the race: it is shown in the table.
"""

import functools
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, Unpack

BENCH = Path(__file__).resolve().parent
DATA = BENCH / ".data"
DOLMEN = "Dolmen"

# How the numeric libraries are told their number of threads.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "RAYON_NUM_THREADS",
)

Quality = Mapping[str, float]


@dataclass(frozen=True)
class Contestant:
    """Who runs: a command, its threads, and how long it may take."""

    name: str
    command: Sequence[str]
    threads: int = 1
    limit: float = 120.0
    """Seconds one run may take, start and reading included, before it is ended."""
    budget: float = math.inf
    """No further round once the runs so far have taken so many seconds."""


class Settings(TypedDict, total=False):
    """The fields of a contestant that have a default."""

    threads: int
    limit: float
    budget: float


@dataclass(frozen=True)
class Outcome:
    """What one run said of itself."""

    seconds: float
    peak_mb: float
    version: str
    quality: Quality
    answer: Sequence[float] = ()
    remark: str = ""
    cpu_seconds: float | None = None


@dataclass
class Standing:
    """How a contestant stands: its runs so far, and why there are no more."""

    contestant: Contestant
    outcomes: list[Outcome] = field(default_factory=list)
    quality: Quality = field(default_factory=dict)
    trouble: str = ""
    spent: float = 0.0
    at_least: float | None = None
    """A time it needs more than, where it was ended for being slow."""

    @property
    def best(self) -> float | None:
        """Seconds of the fastest run."""
        return min((o.seconds for o in self.outcomes), default=None)

    @property
    def median(self) -> float | None:
        """Seconds of the median run."""
        return statistics.median(o.seconds for o in self.outcomes) if self.outcomes else None

    @property
    def cpu(self) -> float | None:
        """The least processor time of its runs, all threads together."""
        return min((o.cpu_seconds for o in self.outcomes if o.cpu_seconds is not None), default=None)

    @property
    def peak_mb(self) -> float | None:
        """The largest peak memory of its runs, in units of 10^6 bytes."""
        return max((o.peak_mb for o in self.outcomes), default=None)


Standings = Mapping[str, Standing]
Judge = Callable[[Mapping[str, Sequence[Outcome]]], Mapping[str, Quality]]


@dataclass(frozen=True)
class Goal:
    """Something Dolmen is to reach: a measured number and the bound it is held against."""

    text: str
    measure: Callable[[Standings], float | None]
    bound: float
    at_least: bool = False

    def met(self, value: float) -> bool:
        """Whether the measured value is on the right side of the bound."""
        return value >= self.bound if self.at_least else value <= self.bound


def worst_reported(outcomes: Mapping[str, Sequence[Outcome]]) -> Mapping[str, Quality]:
    """The judge that takes contestants at their word: the largest value of each quality over the rounds."""
    return {
        name: {key: max(run.quality[key] for run in runs) for key in runs[0].quality} for name, runs in outcomes.items()
    }


@dataclass(frozen=True)
class Lane:
    """One discipline: the work in words, who runs, who judges, and what Dolmen is to reach.

    The first contestant is Dolmen; qualities are numbers of which less is better.
    """

    title: str
    contestants: Sequence[Contestant]
    goals: Sequence[Goal]
    rounds: int = 5
    judge: Judge = worst_reported
    heat: str = ""
    """What tells the lanes of one file apart: a size, a number of columns."""


def dolmen(
    *arguments: str | int | float | Path, threads: int = 1, name: str = DOLMEN, limit: float = 120.0
) -> Contestant:
    """Dolmen's side: the Rust binary `dolmen-bench` with a lane's name and its arguments."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", BENCH.parent / "target"))
    binary = target.absolute() / "release" / "dolmen-bench"
    return Contestant(name, (str(binary), str(threads), *map(str, arguments)), threads, limit)


def python(name: str, script: str, *arguments: str | int | float | Path, **settings: Unpack[Settings]) -> Contestant:
    """A peer run by this Python: a script in `peers` with its arguments."""
    return Contestant(name, (sys.executable, f"peers/{script}", *map(str, arguments)), **settings)


def rscript(name: str, script: str, *arguments: str | int | Path, **settings: Unpack[Settings]) -> Contestant:
    """A peer run by R, where there is one: a script in `peers` with its arguments."""
    return Contestant(name, ("Rscript", "--vanilla", f"peers/{script}", *map(str, arguments)), **settings)


def run(lane: Lane) -> Standings:
    """Runs the rounds of a lane, every contestant once a round, and has the answers judged."""
    standings = {c.name: Standing(c) for c in lane.contestants}
    for number in range(1, lane.rounds + 1):
        for standing in standings.values():
            if not standing.trouble and standing.spent < standing.contestant.budget:
                compete(standing)
                last = standing.trouble or f"{standing.outcomes[-1].seconds:.4g} s"
                print(f"  round {number}  {standing.contestant.name}: {last}", file=sys.stderr)
    verdicts = lane.judge({name: s.outcomes for name, s in standings.items() if s.outcomes})
    for name, verdict in verdicts.items():
        standings[name].quality = verdict
    return standings


def compete(standing: Standing) -> None:
    """One run of one contestant, added to its standing."""
    contestant = standing.contestant
    cores = sorted(os.sched_getaffinity(0))[-contestant.threads :]
    started = time.monotonic()
    try:
        done = subprocess.run(
            contestant.command,
            capture_output=True,
            text=True,
            check=False,
            cwd=BENCH,
            timeout=contestant.limit,
            env=os.environ | dict.fromkeys(THREAD_VARIABLES, str(contestant.threads)),
            preexec_fn=functools.partial(os.sched_setaffinity, 0, cores),
        )
    except FileNotFoundError:
        standing.trouble = "not installed"
    except subprocess.TimeoutExpired:
        standing.trouble = f"ended after {contestant.limit:.0f} s"
        standing.at_least = contestant.limit
    else:
        read_outcome(standing, done)
    standing.spent += time.monotonic() - started


def read_outcome(standing: Standing, done: subprocess.CompletedProcess[str]) -> None:
    """Adds what a finished process printed to its contestant's standing."""
    complaint = (done.stderr.strip().splitlines() or ["no answer"])[-1]
    if done.returncode != 0:
        standing.trouble = f"failed: {complaint}"
        return
    try:
        said = json.loads(done.stdout.strip().splitlines()[-1])
        if "missing" in said:
            standing.trouble = f"not installed: {said['missing']}"
        else:
            standing.outcomes.append(Outcome(**said))
    except (IndexError, TypeError, ValueError) as problem:
        standing.trouble = f"failed: unreadable answer ({problem})"


def times_faster_than(peer: str, times: float) -> Goal:
    """Dolmen's best time goes so many times into the peer's best (or into the limit it ran into)."""

    def measure(standings: Standings) -> float | None:
        return ratio(standings, peer)

    text = f"no slower than {peer}" if times == 1 else f"{times:g} times as fast as {peer}"
    return Goal(text, measure, times, at_least=True)


def ratio(standings: Standings, peer: str, base: str = DOLMEN) -> float | None:
    """The peer's best time as a multiple of Dolmen's; a lower bound where the peer was ended early."""
    theirs = standings[peer].best or standings[peer].at_least
    ours = standings[base].best
    return theirs / ours if theirs and ours else None


def within_seconds(bound: float) -> Goal:
    """Dolmen's best time is at most so long."""
    return Goal(f"{bound:g} s", lambda standings: standings[DOLMEN].best, bound)


def within_memory(text: str, megabytes: float) -> Goal:
    """Dolmen's peak memory is at most so much."""
    return Goal(f"{text}: {megabytes:.0f} MB", lambda standings: standings[DOLMEN].peak_mb, megabytes)


def within_quality(key: str, bound: float) -> Goal:
    """Dolmen's answer, as judged, is at most so far off."""
    return Goal(f"{key} {bound:g}", lambda standings: standings[DOLMEN].quality.get(key), bound)
