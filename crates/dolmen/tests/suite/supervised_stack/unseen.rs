//! What is learned from rows the stack had not seen: calibration and prediction intervals.

use dolmen::Result;
use dolmen::catalogue::{Catalogue, Catalogued};
use dolmen::ensemble::{Calibration, CalibrationKind, Check, Ending, Ensemble, Stack};
use dolmen::learner::Stored;
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::plan::Plan;
use dolmen::run::Run;
use dolmen::store::{Parameters, Record};
use dolmen::table::Rows;
use dolmen::task::{Classification, Regression};

use super::made::{bent, close, flowers, learners, run, spec, stack_by};

/// Says what another learner says, but far too surely.
#[derive(Debug)]
struct Boastful(Box<dyn Learner<Classification>>);

#[derive(Debug)]
struct Boast(Box<dyn Fitted<Classification>>);

impl Learner<Classification> for Boastful {
    fn members(&self) -> Vec<String> {
        vec!["boastful".into()]
    }
    fn fit(
        &self,
        sample: &Sample<'_, Classification>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Classification>>>> {
        Ok(vec![Box::new(Boast(self.0.fit(sample, run)?.remove(0)))])
    }
}

impl Fitted<Classification> for Boast {
    fn parameters(&self) -> Parameters {
        Parameters::new("boast")
    }

    fn width(&self) -> usize {
        3
    }
    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.0.predict_into(x, out)?;
        for row in out.chunks_exact_mut(3) {
            row.iter_mut().for_each(|p| *p = p.powi(4));
            let total: f64 = row.iter().sum();
            row.iter_mut().for_each(|p| *p /= total);
        }
        Ok(())
    }
    fn record(&self) -> Result<Record> {
        self.0.record()
    }
}

#[test]
fn calibration_takes_back_what_is_too_sure() {
    let (x, labels) = flowers(300, 14);
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let (fresh, truth) = flowers(300, 15);
    let fit = |kind: Option<CalibrationKind>| {
        let honest = Classification::learner(&spec("logistic(lambda=1)")).unwrap();
        let stack = Stack::default().member(Boastful(honest)).folds(5);
        let stack = match kind {
            Some(kind) => stack.calibrated(kind),
            None => stack,
        };
        let ensemble = stack.fit_ensemble(&sample, &run()).unwrap();
        let predicted = predict(&ensemble, fresh.rows(), &run()).unwrap();
        let rows = predicted.chunks_exact(3).enumerate();
        let loss = -rows.map(|(i, row)| row[truth.class(i)].max(1e-12).ln()).sum::<f64>() / 300.0;
        (ensemble, loss)
    };
    let (_, plain) = fit(None);
    let (cooled, loss) = fit(Some(CalibrationKind::Temperature));
    // The powers of 4 are to be undone.
    let Some(Calibration::Temperature(temperature)) = cooled.calibration() else { panic!() };
    assert!((2.5..6.0).contains(temperature), "{temperature}");
    assert!(loss < 0.8 * plain, "{loss} {plain}");
    let (_, stepped) = fit(Some(CalibrationKind::Isotonic));
    assert!(stepped < plain, "{stepped} {plain}");
    let (x, y) = bent(40, 16);
    let numbers = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let stack = Stack::default().members(learners::<Regression>(&["mean"]));
    let error = stack.calibrated(CalibrationKind::Isotonic).fit_ensemble(&numbers, &run());
    assert!(error.unwrap_err().to_string().contains("class probabilities"));
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let (x, y) = bent(200, 17);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let (fresh, truth) = bent(1000, 18);
    for ending in [Ending::Average, Ending::Refit] {
        let stack =
            stack_by::<Regression>("simplex", &["ridge(lambda=1)", "tree", "neighbours(k=5)"]);
        let stack = stack.folds(10).check(Check::Nested).ending(ending);
        let ensemble = stack.fit_ensemble(&sample, &run()).unwrap();
        let again =
            Ensemble::restore(&ensemble.record().unwrap(), Catalogue::standard().registry())
                .unwrap();
        for level in [0.5, 0.9] {
            let intervals = ensemble.intervals(fresh.rows(), level, &run()).unwrap().unwrap();
            let inside = intervals.iter().zip(&truth).filter(|(b, y)| (b[0]..=b[1]).contains(y));
            let share = inside.count() as f64 / 1000.0;
            // Three standard errors of the share, for the fresh rows and for the 200 that set the quantile.
            let slack = 3.0 * (level * (1.0 - level) * (1.0 / 1000.0 + 1.0 / 200.0)).sqrt();
            assert!((share - level).abs() < slack, "{ending:?} {level}: {share}");
            assert_eq!(again.intervals(fresh.rows(), level, &run()).unwrap().unwrap(), intervals);
        }
        assert!(ensemble.intervals(fresh.rows(), 1.0, &run()).is_err());
    }
    let unchecked =
        stack_by::<Regression>("simplex", &["mean"]).fit_ensemble(&sample, &run()).unwrap();
    assert_eq!(unchecked.intervals(fresh.rows(), 0.9, &run()).unwrap(), None);
}

/// Of one member, CV+ can be written down: the order statistics of each row's own fold's fit, less and plus its error.
#[test]
fn intervals_are_those_of_cv_plus_whatever_the_check() {
    let (x, y) = bent(57, 24);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let (fresh, _) = bent(9, 25);
    let fold_of_row: Vec<usize> = (0..57).map(|i| i % 7 % 5).collect();
    let plan = Plan::from_folds(&fold_of_row).unwrap();
    let rank = (0.8_f64 * 58.0).ceil() as usize;
    for check in [Check::Matrix, Check::Nested] {
        let stack = stack_by::<Regression>("simplex", &["ridge(lambda=1)"]).check(check);
        let ensemble = stack.ending(Ending::Average).fit_on(&sample, &plan, &run()).unwrap();
        let matrix = ensemble.matrix().unwrap();
        let fits = ensemble.models().next().unwrap().fold_fits().unwrap();
        let said: Vec<Vec<f64>> =
            fits.iter().map(|fit| predict(fit.as_ref(), fresh.rows(), &run()).unwrap()).collect();
        let found = ensemble.intervals(fresh.rows(), 0.8, &run()).unwrap().unwrap();
        for (k, [lower, upper]) in found.into_iter().enumerate() {
            let error = |i: usize| (y[i] - matrix.row(0, i)[0]).abs();
            let centre = |i: usize| said[fold_of_row[i]][k];
            let mut lows: Vec<f64> = (0..57).map(|i| centre(i) - error(i)).collect();
            let mut highs: Vec<f64> = (0..57).map(|i| centre(i) + error(i)).collect();
            lows.sort_by(|a, b| b.total_cmp(a));
            highs.sort_by(f64::total_cmp);
            close(lower, lows[rank - 1], 1e-12, "lower");
            close(upper, highs[rank - 1], 1e-12, "upper");
        }
    }
}
