"""A stack of forecasts: no row is predicted by a model that saw a later one, in any fold."""

import numpy as np
import pandas as pd

from dolmen import StackedRegressor

# Three years of ice cream sold: more on warm days, and twice as much more at weekends.
rng = np.random.default_rng(0)
days = pd.date_range("2021-01-01", periods=3 * 365)
warmth = 12 + 10 * np.sin(2 * np.pi * (days.day_of_year - 110) / 365.25) + rng.normal(0, 3, len(days))
weekend = days.day_of_week >= 5
mean = 60 + 2 * np.maximum(warmth - 15, 0) * np.where(weekend, 2, 1)
sold = pd.Series(mean + rng.normal(0, 4, len(days)), index=days, name="sold")

# What is known the evening before; the first four weeks have no past.
table = pd.DataFrame({"forecast": warmth + rng.normal(0, 1, len(days)), "weekend": weekend}, index=days)
table["yesterday"] = sold.shift(1)
table["a week ago"] = sold.shift(7)
table["four weeks"] = sold.shift(1).rolling(28).mean()
table, sold = table[28:], sold[28:]

past = sold.index < "2023-07-01"
stack = StackedRegressor(["ridge", "forest(trees=100)", "boost(rounds=80)", "neighbours(k=20)"])
stack.fit(table[past], sold[past], times=sold.index[past])

for name, weight in zip(stack.member_names_, stack.weights_, strict=True):
    print(f"{name:<20} weight {weight:.3f}")
print(f"{len(stack.oos_)} of {past.sum()} days were predicted from the days before them, to find the weights")


def error(predicted):
    return float(np.sqrt(np.mean((predicted - sold[~past]) ** 2)))


forecast, naive = error(stack.predict(table[~past])), error(table["a week ago"][~past])
print(f"RMSE of the next half year: {forecast:.2f}; of the figures of a week ago: {naive:.2f}")
low, high = stack.predict_interval(table[~past], 0.9).T
print(f"90 % intervals held {np.mean((low <= sold[~past]) & (sold[~past] <= high)):.0%} of the days")
assert len(stack.oos_) < past.sum() and forecast < 0.75 * naive
