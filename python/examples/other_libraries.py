"""LightGBM, CatBoost (if they are there), scikit-learn and Dolmen in one stack, on a table with categories."""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from dolmen import RandomForestClassifier, StackedClassifier

rng = np.random.default_rng(0)
rows = 600
table = pd.DataFrame({"age": rng.integers(18, 80, rows).astype(float), "town": rng.choice(["north", "south", "east"], rows)})
odds = 0.08 * (table["age"] - 45) + np.where(table["town"] == "south", 1.5, -0.5)
bought = np.where(rng.random(rows) < 1 / (1 + np.exp(-odds)), "yes", "no")

columns = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(handle_unknown="ignore"), ["town"]))
members = [("linear", make_pipeline(columns, LogisticRegression())), RandomForestClassifier(trees=50), "aode"]
try:
    from lightgbm import LGBMClassifier

    members.append(("lgbm", LGBMClassifier(n_estimators=40, num_leaves=7, verbose=-1, n_jobs=1)))
except ImportError:
    print("LightGBM is not there")
try:
    from catboost import CatBoostClassifier

    members.append(("cat", CatBoostClassifier(iterations=40, depth=3, verbose=False, cat_features=["town"], allow_writing_files=False)))
except ImportError:
    print("CatBoost is not there")

stack = StackedClassifier(members, combiner="simplex").fit(table, bought)
for name, weight, error in zip(stack.member_names_, stack.weights_, stack.weight_errors_, strict=True):
    print(f"{name:<20} weight {weight:.3f} (se {error:.3f})")
for (age, town), chances in zip(table.head(3).to_numpy(), stack.predict_proba(table.head(3)), strict=True):
    print(f"{age:.0f} years old, from the {town}: buys with probability {chances[1]:.2f}")
assert abs(stack.weights_.sum() - 1) < 1e-9
