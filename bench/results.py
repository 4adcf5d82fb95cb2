"""What is shown and kept of a race: a lane's section of RESULTS.md."""

import datetime
import os
import re
import subprocess
from pathlib import Path

import race
from race import BENCH, DOLMEN, Goal, Lane, Standing, Standings

RESULTS = BENCH / "RESULTS.md"
HEAD = """\
# Results of the race

Written by `make bench`; every lane rewrites its own section. Contestants run by turns on the same cores, each in a
process of its own. Seconds are those of the call alone; ratio is the peer's best time over Dolmen's on as many threads;
CPU is the least processor time of a run, which other work on the machine lengthens less, and the ratio of that: where the
load is above the number of cores, it is the one to compare. Peak is the whole process's VmHWM in 10^6 bytes. Of every quality
less is better; answers are judged by one referee.
"""


def section(name: str, lane: Lane, standings: Standings) -> str:
    """A lane's section in Markdown: circumstances, table, goals and versions."""
    parts = [f"## {name}", circumstances(lane), table(standings)]
    parts.append("\n".join(verdict(goal, standings) for goal in lane.goals))
    parts.append(f"Versions: {versions(standings)}.")
    return "\n\n".join(parts) + "\n"


def keep(name: str, text: str, file: Path = RESULTS) -> None:
    """Puts a lane's section into the file in place of its old one, leaving the others as they are."""
    old = file.read_text(encoding="utf-8") if file.exists() else HEAD
    head, *bodies = re.split(r"^(?=## )", old, flags=re.MULTILINE)
    sections = {body.splitlines()[0].removeprefix("## "): body for body in bodies} | {name: text}
    pieces = [head, *(sections[key] for key in sorted(sections))]
    file.write_text("\n\n".join(piece.strip() for piece in pieces) + "\n", encoding="utf-8")


def circumstances(lane: Lane) -> str:
    """The work, the day, the machine and how busy it was."""
    rounds = f"up to {lane.rounds} rounds"
    load = f"load {os.getloadavg()[0]:.1f} at the end"
    return f"{lane.title}\n{datetime.date.today()}, {processor()}, {rounds}, {load}."


def processor() -> str:
    """The processor's name, its vector instructions and the cores this process may use."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    vectors = " with AVX-512" if " avx512f " in text else " with AVX2" if " avx2 " in text else ""
    return f"{model.group(1) if model else 'unknown processor'}{vectors}, {len(os.sched_getaffinity(0))} cores"


def table(standings: Standings) -> str:
    """The standings as a Markdown table, aligned so that it reads well in a terminal too."""
    qualities = list(dict.fromkeys(key for standing in standings.values() for key in standing.quality))
    rows = [
        ["contestant", "threads", "best s", "median s", "ratio", "CPU s", "CPU ratio", *qualities, "peak MB", "remark"]
    ]
    rows += [row(standing, standings, qualities) for standing in standings.values()]
    return aligned(rows)


def aligned(rows: list[list[str]]) -> str:
    """A Markdown table whose columns stand below each other; the first row is its head."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows = [rows[0], ["-" * width for width in widths], *rows[1:]]
    return "\n".join(f"| {' | '.join(map(str.ljust, cells, widths))} |" for cells in rows)


def row(standing: Standing, standings: Standings, qualities: list[str]) -> list[str]:
    """One contestant's cells; its ratio is to Dolmen on the same number of threads, where that ran."""
    threads = standing.contestant.threads
    alike = [name for name, s in standings.items() if name.startswith(DOLMEN) and s.contestant.threads == threads]
    ratio = race.ratio(standings, standing.contestant.name, alike[0]) if alike else None
    alike_cpu = standings[alike[0]].cpu if alike else None
    remark = standing.trouble or next((o.remark for o in standing.outcomes if o.remark), "")
    return [
        standing.contestant.name,
        str(threads),
        number(standing.best),
        number(standing.median),
        ("> " if standing.at_least and ratio else "") + number(ratio, 3),
        number(standing.cpu),
        number(standing.cpu / alike_cpu if standing.cpu and alike_cpu else None, 3),
        *(number(standing.quality.get(key), 3) for key in qualities),
        number(standing.peak_mb),
        remark,
    ]


def number(value: float | None, digits: int = 4) -> str:
    """A number in few characters; nothing where there is none."""
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def verdict(goal: Goal, standings: Standings) -> str:
    """One goal's line: met, not met, or not measured."""
    value = goal.measure(standings)
    if value is None:
        return f"- not measured: {goal.text}"
    return f"- {'met' if goal.met(value) else '**not met**'}: {goal.text} (measured {number(value, 3)})"


def versions(standings: Standings) -> str:
    """The versions of all that ran, as they gave them; Dolmen's with the commit."""
    told = [part for s in standings.values() if s.outcomes for part in s.outcomes[0].version.split(", ")]
    commit = current_commit()
    return ", ".join(f"{part} ({commit})" if part.startswith(DOLMEN) else part for part in dict.fromkeys(told))


def current_commit() -> str:
    """The commit the working copy is at, and whether it was changed since."""
    try:
        told = subprocess.run(
            ("git", "describe", "--always", "--dirty"), capture_output=True, text=True, check=True, cwd=BENCH
        )
    except (FileNotFoundError, subprocess.CalledProcessError):
        return "commit unknown"
    return told.stdout.strip()
