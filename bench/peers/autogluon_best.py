"""AutoGluon's best quality: `python autogluon_best.py FOLDER TARGET TASK SECONDS` learns train.csv, predicts test.csv, writes said.csv."""

import sys
from pathlib import Path


def main() -> None:
    """Fits and predicts in the folder."""
    from autogluon.tabular import TabularDataset, TabularPredictor

    folder, target, task, seconds = Path(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4])
    train = TabularDataset(str(folder / "train.csv"))
    test = TabularDataset(str(folder / "test.csv")).drop(columns=target)
    if task == "classes":
        train[target] = train[target].astype(str)
        kind, metric = ("binary" if train[target].nunique() == 2 else "multiclass"), "log_loss"
    else:
        kind, metric = "regression", "root_mean_squared_error"
    predictor = TabularPredictor(target, problem_type=kind, eval_metric=metric, path=str(folder / "models"), verbosity=0)
    # What finds out whether to stack needs `ray`; without it the layers are those of the time there is.
    predictor.fit(train, presets="best_quality", time_limit=seconds, dynamic_stacking=False)
    said = predictor.predict_proba(test) if task == "classes" else predictor.predict(test).to_frame()
    said.to_csv(folder / "said.csv", index=False)


if __name__ == "__main__":
    main()
