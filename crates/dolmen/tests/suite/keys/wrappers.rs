//! Wrappers keep what they wrap.

use dolmen::catalogue::Catalogued;
use dolmen::ensemble::{Ending, Stack};
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::spec::Spec;
use dolmen::table::Features;
use dolmen::task::{Density, Regression};

use super::spy::{bits, made, run};

fn learner<T: Catalogued>(text: &str) -> Box<dyn Learner<T>> {
    T::learner(&Spec::parse(text).unwrap()).unwrap()
}

#[test]
fn a_density_whose_members_are_fold_averages_can_be_sampled() {
    let values: Vec<f64> = (0..160).map(|i| (f64::from(i) * 0.77).sin() * 3.0).collect();
    let x = Features::numeric(values, 2).unwrap();
    let sample = Sample::<Density>::new(x.rows(), &()).unwrap();
    let stack = Stack::default().member_of(["gaussian", "mixture(components=2)"]);
    let ensemble = stack.folds(4).ending(Ending::Average).fit_ensemble(&sample, &run()).unwrap();
    let density = ensemble.density().unwrap();
    let said = predict(&ensemble, x.rows(), &run()).unwrap();
    let mixed = predict(density, x.rows(), &run()).unwrap();
    assert!(said.iter().zip(&mixed).all(|(a, b)| (a - b).abs() < 1e-9));
    let mut rng = run().rng();
    let mut rows = vec![0.0; 2 * 500];
    rows.chunks_exact_mut(2).for_each(|row| density.sample_into(&mut rng, row));
    let drawn = Features::numeric(rows, 2).unwrap();
    let likely = predict(density, drawn.rows(), &run()).unwrap();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    assert!((mean(&likely) - mean(&said)).abs() < 0.5);
    let one = ensemble.models().next().unwrap();
    assert_eq!(one.fold_fits().unwrap().len(), 4);
    assert!(one.density().is_some());
    assert_eq!(density.marginal(&[0]).unwrap().dimension(), 1);
}

#[test]
fn a_forest_in_a_stack_is_walked_in_blocks_as_large_as_alone() {
    let made = made(200);
    let sample = made.plain();
    let forest = learner::<Regression>("forest(trees=20)").fit(&sample, &run()).unwrap().remove(0);
    let alone = learner::<Regression>("ridge").fit(&sample, &run()).unwrap().remove(0);
    assert!(forest.block() > 10 * alone.block());
    for ending in [Ending::Refit, Ending::Average] {
        let stack = Stack::default().members([learner("forest(trees=20)"), learner("ridge")]);
        let ensemble = stack.folds(3).ending(ending).keep_all(true);
        let ensemble = ensemble.fit_ensemble(&sample, &run()).unwrap();
        assert_eq!(ensemble.block(), forest.block());
        // What is said does not depend on how rows are cut into blocks.
        let many: Vec<f64> = made.x.rows().values().repeat(60);
        let many = Features::new(many, std::sync::Arc::clone(made.x.rows().schema())).unwrap();
        let said = predict(&ensemble, many.rows(), &run()).unwrap();
        let mut one_by_one = vec![0.0; 200];
        for (i, out) in one_by_one.iter_mut().enumerate() {
            let row = made.x.rows().slice(i..i + 1);
            ensemble.predict_into(row, std::slice::from_mut(out)).unwrap();
        }
        assert_eq!(bits(&said[..200]), bits(&one_by_one));
        assert_eq!(bits(&said[11_800..]), bits(&one_by_one));
    }
}

#[test]
fn importances_of_folds_are_averaged() {
    let made = made(150);
    let stack = Stack::default().member_of(["forest(trees=20)"]).folds(3).ending(Ending::Average);
    let ensemble = stack.fit_ensemble(&made.plain(), &run()).unwrap();
    let average = ensemble.models().next().unwrap();
    let fits = average.fold_fits().unwrap();
    let of = |model: &dyn Fitted<Regression>| {
        let series = model.diagnostics().series;
        series.into_iter().find(|series| series.name == "importance").unwrap().values
    };
    let mean: Vec<f64> =
        (0..3).map(|k| fits.iter().map(|fit| of(fit.as_ref())[k]).sum::<f64>() / 3.0).collect();
    assert_eq!(of(average), mean);
    assert_eq!(of(&ensemble), mean);
}

trait ByName<T: Catalogued> {
    fn member_of<const N: usize>(self, specs: [&str; N]) -> Self;
}

impl<T: Catalogued> ByName<T> for Stack<T> {
    fn member_of<const N: usize>(self, specs: [&str; N]) -> Self {
        self.members(specs.map(learner::<T>))
    }
}
