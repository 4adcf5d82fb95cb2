"""Stacking weights as in R's loo, from a matrix of pointwise log predictive densities: exact, certified, with standard errors."""

import numpy as np

import dolmen

rng = np.random.default_rng(1)
x = rng.standard_t(4, size=400)


def normal(mean, sd):
    return -0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)


lpd = {"narrow": normal(0.0, 0.8), "wide": normal(0.0, 2.5), "shifted": normal(1.0, 1.0)}
found = dolmen.weigh(lpd, log=True)
for name, weight, error in zip(found.members, found.weights, found.weight_errors, strict=True):
    print(f"{name:<8} {weight:.4f} (se {error:.4f})")
print(f"no weights score better by more than {found.gap:.1e} per row")
other = dolmen.weigh(lpd, log=True, method="pseudo-bma+")
print("pseudo-BMA+:", ", ".join(f"{name} {weight:.4f}" for name, weight in zip(other.members, other.weights, strict=True)))
assert found.gap < 1e-9
