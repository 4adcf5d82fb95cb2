"""Draws geyser.csv: eruptions of no real geyser, from the mixture that README.md states.

python3 geyser.py > geyser.csv
"""

from random import Random

SHORT = (0.36, 2.0, 0.25, 54.0)  # share, mean duration and its deviation (minutes), mean waiting time
LONG = (0.64, 4.3, 0.4, 80.0)


def main() -> None:
    rng = Random(1)
    print("eruptions,waiting")
    for _ in range(272):
        _, mean, deviation, waiting = SHORT if rng.random() < SHORT[0] else LONG
        eruption = rng.gauss(mean, deviation)
        print(f"{eruption:.3f},{rng.gauss(waiting + 5 * (eruption - mean), 5.5):.0f}")


if __name__ == "__main__":
    main()
