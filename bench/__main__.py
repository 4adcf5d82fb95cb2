"""Runs the lanes of the race: `python bench [LANE ...] [--scale S]`, or `make bench`."""

import argparse
import importlib
import sys
from collections.abc import Iterable

import race
import results


def main() -> int:
    """Runs the lanes asked for, prints their tables and keeps full-size ones in RESULTS.md."""
    known = sorted(file.stem for file in (race.BENCH / "lanes").glob("*.py"))
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("lanes", nargs="*", metavar="LANE", help=f"all unless named: {', '.join(known)}")
    parser.add_argument("--scale", type=float, default=1.0, help="rows as a share of the real race; not kept")
    asked = parser.parse_args()
    if unknown := set(asked.lanes) - set(known):
        parser.error(f"no lane {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if not 0 < asked.scale <= 1:
        parser.error("--scale must be above 0 and at most 1")

    finished = True
    for name in asked.lanes or known:
        print(f"{name}: preparing", file=sys.stderr)
        for lane in heats(name, asked.scale):
            full_name = f"{name}, {lane.heat}" if lane.heat else name
            standings = race.run(lane)
            section = results.section(full_name, lane, standings)
            print(section)
            if asked.scale == 1:
                results.keep(full_name, section)
            finished &= standings[race.DOLMEN].best is not None
    return 0 if finished else 1


def heats(name: str, scale: float) -> Iterable[race.Lane]:
    """The lanes of one file: `lane` makes one, or several heats."""
    made: race.Lane | Iterable[race.Lane] = importlib.import_module(f"lanes.{name}").lane(scale)
    return [made] if isinstance(made, race.Lane) else made


if __name__ == "__main__":
    sys.exit(main())
