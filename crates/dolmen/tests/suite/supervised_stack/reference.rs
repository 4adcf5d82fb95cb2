//! The procedure against reference values, to 1e-9.

use dolmen::Result;
use dolmen::combine::Learned;
use dolmen::ensemble::{Check, Ending, Stack};
use dolmen::learner::linear::{Lambda, Ridge};
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::oos::{OnFailure, Trials, collect};
use dolmen::plan::Plan;
use dolmen::run::Run;
use dolmen::store::{Parameters, Record};
use dolmen::table::{Features, Rows};
use dolmen::task::Regression;
use serde_json::Value;

use super::made::{close, plain_ridge, run};

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap_or(f64::NAN)).collect()
}

fn matrix(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

/// A learner that sees functions of the inputs.
#[derive(Debug)]
struct Seeing {
    name: &'static str,
    see: fn(&[f64]) -> Vec<f64>,
    ridge: Ridge,
}

#[derive(Debug)]
struct Seen {
    see: fn(&[f64]) -> Vec<f64>,
    model: Box<dyn Fitted<Regression>>,
}

fn seen(x: Rows<'_>, see: fn(&[f64]) -> Vec<f64>) -> Features {
    let rows: Vec<Vec<f64>> = x.iter().map(see).collect();
    Features::numeric(rows.concat(), rows[0].len()).unwrap()
}

impl Learner<Regression> for Seeing {
    fn members(&self) -> Vec<String> {
        vec![self.name.into()]
    }
    fn fit(
        &self,
        sample: &Sample<'_, Regression>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        let x = seen(sample.x(), self.see);
        let model = self.ridge.fit(&sample.with_inputs(x.rows())?, run)?.remove(0);
        Ok(vec![Box::new(Seen { see: self.see, model })])
    }
}

impl Fitted<Regression> for Seen {
    fn parameters(&self) -> Parameters {
        Parameters::new("seen")
    }

    fn width(&self) -> usize {
        1
    }
    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.model.predict_into(seen(x, self.see).rows(), out)
    }
    fn record(&self) -> Result<Record> {
        self.model.record()
    }
}

/// The four base learners of the reference.
fn bases() -> Vec<Box<dyn Learner<Regression>>> {
    let base = |name, lambda, see| {
        Box::new(Seeing { name, see, ridge: plain_ridge(lambda) }) as Box<dyn Learner<Regression>>
    };
    vec![
        base("ridge 1", 1.0, <[f64]>::to_vec),
        base("ridge 10", 10.0, <[f64]>::to_vec),
        base("squares", 0.1, |x| x.iter().copied().chain(x.iter().map(|x| x * x)).collect()),
        base("first", 1.0, |x| x[..1].to_vec()),
    ]
}

/// Every matrix, the chosen penalty, the stacker and its predictions are those of the reference [Himmetoglu2019].
#[test]
fn the_oos_ho_procedure_is_that_of_the_reference() {
    let golden: Value = serde_json::from_str(include_str!("../../fixtures/stacking.json")).unwrap();
    let x = Features::numeric(matrix(&golden["X"]).concat(), 3).unwrap();
    let y = numbers(&golden["y"]);
    let folds: Vec<usize> = numbers(&golden["folds"]).iter().map(|v| *v as usize).collect();
    let plan = Plan::from_folds(&folds).unwrap();
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let owned = bases();
    let learners: Vec<&dyn Learner<Regression>> = owned.iter().map(AsRef::as_ref).collect();
    let plain = collect(&learners, &sample, &plan, OnFailure::Stop, &run()).unwrap();
    let trials = Trials::nested(plain, &learners, &sample, &plan, OnFailure::Stop, &run()).unwrap();
    let held_out = matrix(&golden["HO"]);
    for (i, row) in held_out.iter().enumerate() {
        for (m, expected) in row.iter().enumerate() {
            close(trials.matrix.row(m, i)[0], *expected, 1e-9, "X_HO");
        }
    }
    for fold in 0..trials.len() {
        let trial = trials.trial(fold);
        let expected = golden["OOS_by_ho_fold"][fold].as_array().unwrap();
        assert_eq!(trial.learned_from.rows() + trial.held_out.rows(), 30);
        for (i, &row) in trial.learned_from.table_rows().iter().enumerate() {
            for (m, expected) in numbers(&expected[row]).iter().enumerate() {
                close(trial.learned_from.row(m, i)[0], *expected, 1e-9, "X_OOS");
            }
        }
    }

    let grid = numbers(&golden["Lambda_grid"]);
    let stacker = Ridge { lambda: Lambda::Ladder(grid), standardise: false };
    let boxed: Box<dyn Learner<Regression>> = Box::new(stacker);
    let stack = Stack::new(Learned::new(boxed))
        .members(bases())
        .check(Check::Nested)
        .ending(Ending::Average);
    let ensemble = stack.fit_on(&sample, &plan, &run()).unwrap();
    let assessment = ensemble.assessment().unwrap();
    for (candidate, sse) in assessment.candidates.iter().zip(numbers(&golden["sse"])) {
        close(-30.0 * candidate.score.mean, sse, 1e-9, &candidate.name);
    }
    let best = golden["Lambda"].as_f64().unwrap();
    assert_eq!(assessment.chosen, format!("ridge(lambda={best}, standardise=false)"));
    let coefficients = &ensemble.combination().diagnostics().series[0].values;
    close(coefficients[0], golden["beta"].as_f64().unwrap(), 1e-9, "beta");
    for (found, expected) in coefficients[1..].iter().zip(numbers(&golden["Omega"])) {
        close(*found, expected, 1e-9, "Omega");
    }
    let query = Features::numeric(matrix(&golden["query"]).concat(), 3).unwrap();
    let features = matrix(&golden["test_features"]);
    for (m, model) in ensemble.models().enumerate() {
        for (i, found) in predict(model, query.rows(), &run()).unwrap().iter().enumerate() {
            close(*found, features[i][m], 1e-9, "test feature");
        }
    }
    let predicted = predict(&ensemble, query.rows(), &run()).unwrap();
    for (found, expected) in predicted.iter().zip(numbers(&golden["test_prediction"])) {
        close(*found, expected, 1e-9, "test prediction");
    }
}

/// With the same folds and penalty, matrix, stacker and predictions are those of scikit-learn's StackingRegressor.
#[test]
fn a_ridge_stack_is_a_stacking_regressor() {
    let peer: Value =
        serde_json::from_str(include_str!("../../fixtures/stacking_regressor.json")).unwrap();
    let x = Features::numeric(matrix(&peer["X"]).concat(), 3).unwrap();
    let y = numbers(&peer["y"]);
    let folds: Vec<usize> = numbers(&peer["folds"]).iter().map(|v| *v as usize).collect();
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let stacker: Box<dyn Learner<Regression>> = Box::new(plain_ridge(0.5));
    let stack = Stack::new(Learned::new(stacker)).members(bases());
    let ensemble = stack.fit_on(&sample, &Plan::from_folds(&folds).unwrap(), &run()).unwrap();
    let found = ensemble.matrix().unwrap();
    for (i, row) in matrix(&peer["matrix"]).iter().enumerate() {
        row.iter().enumerate().for_each(|(m, v)| close(found.row(m, i)[0], *v, 1e-9, "matrix"));
    }
    let coefficients = &ensemble.combination().diagnostics().series[0].values;
    close(coefficients[0], peer["intercept"].as_f64().unwrap(), 1e-9, "intercept");
    for (found, expected) in coefficients[1..].iter().zip(numbers(&peer["coefficients"])) {
        close(*found, expected, 1e-9, "coefficient");
    }
    let query = Features::numeric(matrix(&peer["query"]).concat(), 3).unwrap();
    let predicted = predict(&ensemble, query.rows(), &run()).unwrap();
    for (found, expected) in predicted.iter().zip(numbers(&peer["prediction"])) {
        close(*found, expected, 1e-9, "prediction");
    }
}
