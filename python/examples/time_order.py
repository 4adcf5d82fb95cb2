"""A stack of forecasts: no row is predicted by a model that saw a later one, in any fold."""

import numpy as np
import pandas as pd

from dolmen import StackedRegressor

days = pd.date_range("2022-01-01", periods=500)
rng = np.random.default_rng(0)
season = 10 * np.sin(2 * np.pi * days.dayofyear / 365.25)
demand = 100 + 0.05 * np.arange(500) + season + rng.normal(0, 2, 500)
table = pd.DataFrame({"trend": np.arange(500.0), "month": days.month.astype(float), "yesterday": np.r_[demand[0], demand[:-1]]})

stack = StackedRegressor(["ridge", "forest(trees=50)", "neighbours(k=10)", "mean"]).fit(table[:400], demand[:400], times=days[:400])
print(dict(zip(stack.member_names_, stack.weights_.round(3), strict=True)))
print("rows that were predicted from their past:", len(stack.oos_), "of 400")
error = np.sqrt(np.mean((stack.predict(table[400:]) - demand[400:]) ** 2))
print("RMSE of the next hundred days", round(float(error), 2))
assert len(stack.oos_) < 400 and error < 6
