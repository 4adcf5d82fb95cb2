"""A stacked density: how likely rows are, which are strange, what one column says about another."""

import numpy as np

from dolmen import StackedDensity

rng = np.random.default_rng(0)
usual = np.vstack([rng.normal([0, 0], [1, 2], (150, 2)), rng.normal([6, 3], [1, 0.5], (100, 2))])
strange = np.array([[3.0, 12.0], [-8.0, 0.0]])

density = StackedDensity().fit(usual)
for name, weight in zip(density.member_names_, density.weights_, strict=True):
    if weight > 0.01:
        print(f"{name:<45} weight {weight:.3f}")
scores = density.anomaly_scores(np.vstack([usual, strange]))
order = np.argsort(-scores)
print("the strangest rows:", ", ".join(str(row) for row in order[:2]))
assert set(order[:2]) == {250, 251}

given = density.conditional({0: 6.0})
low, middle, high = given.ppf([0.05, 0.5, 0.95])
print(f"where the first column is 6, the second lies in {low:.2f} to {high:.2f}, about {middle:.2f}")
assert 2 < middle < 4
print("three rows drawn from it:", density.sample(3, random_state=0).round(2).tolist())
