"""Ranks of contestants over tables, and by how much they must differ to be told apart.

Friedman's test asks whether anybody differs at all; two mean ranks that lie further apart than Nemenyi's critical difference do (Demsar 2006).
Against one contestant in particular, the first, wins and losses are counted and tested by signs.
"""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

TIE = 1e-9
"""Losses that differ by less than this share are ties."""


def mean_ranks(losses: Mapping[str, NDArray[np.float64]]) -> dict[str, float]:
    """Each contestant's mean rank, 1 the best, ties shared."""
    from scipy.stats import rankdata

    table = np.column_stack(list(losses.values()))
    places = np.vstack([rankdata(np.where(np.isfinite(row), row, np.inf)) for row in table])
    return dict(zip(losses, places.mean(axis=0), strict=True))


def critical_difference(contestants: int, tables: int, level: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks."""
    from scipy.stats import studentized_range

    q = studentized_range.ppf(1 - level, contestants, math.inf) / math.sqrt(2)
    return float(q * math.sqrt(contestants * (contestants + 1) / (6 * tables)))


def standing(losses: Mapping[str, NDArray[np.float64]]) -> str:
    """Mean ranks with the critical difference, Friedman's test, and the first contestant against each of the others."""
    from scipy.stats import binomtest, friedmanchisquare

    who, tables = list(losses), len(next(iter(losses.values())))
    ranked = sorted(mean_ranks(losses).items(), key=lambda pair: pair[1])
    lines = ["- mean ranks: " + ", ".join(f"{name} {rank:.2f}" for name, rank in ranked)]
    if len(who) > 2 and tables > 2:
        chance = friedmanchisquare(*losses.values()).pvalue
        difference = critical_difference(len(who), tables)
        lines.append(f"- critical difference {difference:.2f} (Nemenyi, 5 %); Friedman's test: p = {chance:.2g}")
    own = losses[who[0]]
    for other in who[1:]:
        ratio = own / losses[other]
        wins, lost = int((ratio < 1 - TIE).sum()), int((ratio > 1 + TIE).sum())
        chance = binomtest(wins, wins + lost).pvalue if wins + lost else 1.0
        mean = math.exp(float(np.mean(np.log(ratio[np.isfinite(ratio) & (ratio > 0)]))))
        lines.append(
            f"- {who[0]} against {other}: {wins} wins, {lost} losses (sign test p = {chance:.2g}), loss {mean:.4f} of the other's (geometric mean)"
        )
    return "\n".join(lines)
