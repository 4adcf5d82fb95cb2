//! The out-of-sample matrix: how it is filled, and that a file keeps all of it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::sync::Arc;

use dolmen::catalogue::Catalogued;
use dolmen::error::Place;
use dolmen::learner::baseline::Mean;
use dolmen::learner::density::gaussian::Gaussian;
use dolmen::learner::{Fitted, Learner, Sample, Simple, SimpleLearner, SimpleModel, predict};
use dolmen::oos::{OnFailure, OutOfSample, Values, collect, task_of};
use dolmen::plan::{KFold, Plan, PlanSpec, Portion, RowKeys};
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::{Column, Features, Table, write_parquet};
use dolmen::target::Labels;
use dolmen::task::{Classification, Density, Joint, Regression, Task};
use dolmen::{Error, Result};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

fn run() -> Run {
    Run::with_threads(0, 2).unwrap()
}

fn rows(count: usize) -> Features {
    let value = |i: usize| (i as f64 * 1.31).sin() * 3.0 + (i % 5) as f64;
    Features::numeric((0..count * 2).map(value).collect(), 2).unwrap()
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("matrix.parquet");
    (folder, path)
}

/// Writes and reads a matrix, and compares everything it says.
fn round_trip<T: Task>(matrix: &OutOfSample<T>) -> OutOfSample<T> {
    let (_folder, path) = place();
    matrix.write(&path).unwrap();
    assert_eq!(task_of(&path).unwrap().as_deref(), Some(T::NAME));
    let read = OutOfSample::<T>::read(&path, &run()).unwrap();
    assert_eq!(read.members(), matrix.members());
    assert_eq!(read.table_rows(), matrix.table_rows());
    assert_eq!((read.rows(), read.width()), (matrix.rows(), matrix.width()));
    assert_eq!(read.fingerprint(), matrix.fingerprint());
    assert_eq!(read.failures(), matrix.failures());
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(read.weights().map(bits), matrix.weights().map(bits));
    for m in 0..matrix.members().len() {
        assert_eq!(bits(read.column(m)), bits(matrix.column(m)), "member {m}");
    }
    read
}

fn named(columns: &[Vec<f64>]) -> Vec<(String, Vec<f64>)> {
    columns.iter().enumerate().map(|(m, c)| (format!("m{m}, \"odd\": name"), c.clone())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn densities_come_back_bit_by_bit(
        cells in prop::collection::vec(
            prop_oneof![4 => any::<f64>(), 1 => Just(f64::NEG_INFINITY)], 12),
        weights in prop::option::of(prop::collection::vec(0.5..9.0_f64, 4)),
    ) {
        let cells: Vec<f64> =
            cells.iter().map(|v| if v.is_nan() || *v == f64::INFINITY { -1.5 } else { *v }).collect();
        let columns: Vec<Vec<f64>> = cells.chunks(4).map(<[f64]>::to_vec).collect();
        round_trip(&OutOfSample::<Density>::from_columns(named(&columns), (), weights).unwrap());
    }
}

#[test]
fn classes_and_numbers_come_back() {
    let classes = ["yes", "no", "2"].map(String::from);
    let labels = Labels::new(classes, vec![0, 2, 0, 0]).unwrap();
    let p = [vec![0.2, 0.3, 0.5, 1.0, 0.0, 0.0, 0.1, 0.1, 0.8, 0.25, 0.5, 0.25]];
    let weights = Some(vec![1.0, 2.0, 0.0, 1.5]);
    let matrix = OutOfSample::<Classification>::from_columns(named(&p), labels.clone(), weights);
    assert_eq!(round_trip(&matrix.unwrap()).target(), &labels);

    let joint = [vec![-1.5, f64::NEG_INFINITY, -0.25, -900.0, -1.0, -2.0]];
    let labels = Labels::new(["a", "b"].map(String::from), vec![1, 0, 1]).unwrap();
    let matrix = OutOfSample::<Joint>::from_columns(named(&joint), labels.clone(), None);
    assert_eq!(round_trip(&matrix.unwrap()).target(), &labels);

    let target = vec![0.1, -7.0, 1e300];
    let columns = [vec![0.3, 0.4, 0.5], vec![-1e-300, 0.0, -0.0]];
    let matrix = OutOfSample::<Regression>::from_columns(named(&columns), target.clone(), None);
    assert_eq!(round_trip(&matrix.unwrap()).target(), &target);
}

/// Fails without a certain row; otherwise says the number of rows it learned from.
#[derive(Debug)]
struct Counting {
    needs: Option<f64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Count(f64);

impl SimpleLearner<Density> for Counting {
    type Model = Count;
    fn name(&self) -> String {
        if self.needs.is_some() { "needy".into() } else { "counting".into() }
    }
    fn fit(&self, sample: &Sample<'_, Density>, _run: &Run) -> Result<Count> {
        match self.needs {
            Some(needs) if sample.x().iter().all(|row| row[0] != needs) => {
                Err(Error::data(Place::default(), "where is my row?"))
            }
            _ => Ok(Count(sample.rows() as f64)),
        }
    }
}

impl SimpleModel<Density> for Count {
    const KIND: &'static str = "test.count";
    fn width(&self) -> usize {
        1
    }
    fn predict_row(&self, row: &[f64], out: &mut [f64]) {
        out[0] = if row[0] > 3.0 { f64::NEG_INFINITY } else { self.0 };
    }
}

#[test]
fn a_collected_matrix_comes_back_with_plan_and_failures() {
    let x = rows(30);
    let sample = Sample::new(x.rows(), &()).unwrap();
    let plan = Plan::k_fold(30, 5, &run()).unwrap();
    let needy = Simple(Counting { needs: Some(x.rows().row(4)[0]) });
    let learners: [&dyn Learner<Density>; 3] =
        [&Gaussian::default(), &needy, &Simple(Counting { needs: None })];
    let matrix = collect(&learners, &sample, &plan, OnFailure::Drop, &run()).unwrap();
    assert_eq!(matrix.members(), ["gaussian", "counting"]);
    assert_eq!(matrix.fingerprint(), Some(plan.fingerprint().as_str()));
    let split = plan.fold_of_row().unwrap()[4] as usize;
    let failures: Vec<(&str, usize)> =
        matrix.failures().iter().map(|(name, f)| (name.as_str(), f.split)).collect();
    assert_eq!(failures, [("needy", split)]);
    assert!(matrix.column(1).contains(&f64::NEG_INFINITY));
    round_trip(&matrix);
}

#[test]
fn each_cell_is_what_a_model_of_the_other_folds_says() {
    let x = rows(30);
    let sample = Sample::<Density>::new(x.rows(), &()).unwrap();
    let plan = Plan::k_fold(30, 4, &run()).unwrap();
    let specs = ["gaussian", "kernel(bandwidth=[0.4, 0.9])", "mixture(components=1)"];
    let learners: Vec<Box<dyn Learner<Density>>> =
        specs.iter().map(|s| Density::learner(&Spec::parse(s).unwrap()).unwrap()).collect();
    let borrowed: Vec<&dyn Learner<Density>> = learners.iter().map(AsRef::as_ref).collect();
    let matrix = collect(&borrowed, &sample, &plan, OnFailure::Stop, &run()).unwrap();
    for split in plan.splits() {
        let train = sample.select(split.train(30));
        let test = x.rows().select(split.test());
        let mut m = 0;
        for learner in &borrowed {
            for model in learner.fit(&train.borrow(), &run()).unwrap() {
                let expected = predict(model.as_ref(), test.rows(), &run()).unwrap();
                for (t, &i) in split.test().iter().enumerate() {
                    let found = matrix.row(m, i)[0];
                    assert!((found - expected[t]).abs() < 1e-9, "member {m}, row {i}");
                }
                m += 1;
            }
        }
    }
}

#[test]
fn rows_never_held_out_have_no_place() {
    let x = rows(40);
    let y: Vec<f64> = (0..40).map(f64::from).collect();
    let weights: Vec<f64> = (0..40).map(|i| f64::from(i % 4 + 1)).collect();
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap().counted(&weights).unwrap();
    let plans = [
        Plan::hold_out(40, Portion::Rows(7), &run()).unwrap(),
        Plan::bootstrap(40, 2, &run()).unwrap(),
    ];
    for plan in plans {
        let learner: &dyn Learner<Regression> = &Simple(Mean {});
        let matrix = collect(&[learner], &sample, &plan, OnFailure::Stop, &run()).unwrap();
        let never = plan.never_held_out();
        assert!(!never.is_empty() && matrix.rows() + never.len() == 40);
        for (at, &row) in matrix.table_rows().iter().enumerate() {
            assert!(!never.contains(&row));
            assert_eq!(matrix.target()[at], y[row]);
            assert_eq!(matrix.weights().unwrap()[at], weights[row]);
        }
        round_trip(&matrix);
    }
}

#[test]
fn repeated_plans_average_densities_and_numbers() {
    let x = rows(24);
    let keys = RowKeys::default();
    let scheme = PlanSpec::KFold(KFold { folds: 3, shuffle: true });
    let plan = Plan::repeated(scheme, 4, 24, &keys, &run()).unwrap();
    assert!(plan.coverage().iter().all(|&times| times == 4));

    let sample = Sample::<Density>::new(x.rows(), &()).unwrap();
    let learner: &dyn Learner<Density> = &Gaussian::default();
    let matrix = collect(&[learner], &sample, &plan, OnFailure::Stop, &run()).unwrap();
    let y: Vec<f64> = (0..24).map(f64::from).collect();
    let numbers = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let mean: &dyn Learner<Regression> = &Simple(Mean {});
    let means = collect(&[mean], &numbers, &plan, OnFailure::Stop, &run()).unwrap();

    let (mut density, mut number) = (vec![0.0; 24], vec![0.0; 24]);
    for split in plan.splits() {
        let train = split.train(24);
        let fitted = learner.fit(&sample.select(&*train).borrow(), &run()).unwrap();
        let test = x.rows().select(split.test());
        let logs = predict(fitted[0].as_ref(), test.rows(), &run()).unwrap();
        let own = train.iter().map(|&i| y[i]).sum::<f64>() / train.len() as f64;
        for (log, &i) in logs.iter().zip(split.test()) {
            density[i] += log.exp() / 4.0;
            number[i] += own / 4.0;
        }
    }
    for i in 0..24 {
        assert!((matrix.row(0, i)[0] - density[i].ln()).abs() < 1e-12);
        assert!((means.row(0, i)[0] - number[i]).abs() < 1e-12);
    }
}

#[test]
fn other_tasks_and_other_files_are_refused() {
    let (folder, path) = place();
    let matrix =
        OutOfSample::<Regression>::from_columns(named(&[vec![1.0, 2.0]]), vec![1.0, 2.0], None);
    matrix.unwrap().write(&path).unwrap();
    let error = OutOfSample::<Density>::read(&path, &run()).unwrap_err().to_string();
    assert!(error.contains("regression") && error.contains("density"), "{error}");

    let table = Table::new(vec![("a".into(), Column::Numeric(vec![1.0]))]).unwrap();
    let metadata = |text: &str| [("dolmen.out_of_sample".to_string(), text.to_string())];
    write_parquet(&path, &table, &[]).unwrap();
    assert_eq!(task_of(&path).unwrap(), None);
    let error = OutOfSample::<Density>::read(&path, &run()).unwrap_err().to_string();
    assert!(error.contains("not an out-of-sample matrix"), "{error}");

    write_parquet(&path, &table, &metadata("{ nonsense")).unwrap();
    assert!(matches!(OutOfSample::<Density>::read(&path, &run()), Err(Error::File { .. })));
    let newer = r#"{"version":9,"task":"density","members":[],"classes":[],"fingerprint":null,"failures":[]}"#;
    write_parquet(&path, &table, &metadata(newer)).unwrap();
    let error = OutOfSample::<Density>::read(&path, &run()).unwrap_err();
    assert!(matches!(error, Error::Version { found: 9, .. }), "{error}");
    // A description of columns that are not there.
    let lost = newer.replace("\"version\":9", "\"version\":1").replace("[]", "[\"zz\"]");
    write_parquet(
        &path,
        &table,
        &metadata(&lost.replace("\"failures\":[\"zz\"]", "\"failures\":[]")),
    )
    .unwrap();
    assert!(OutOfSample::<Density>::read(&path, &run()).is_err());

    let text = folder.path().join("text.parquet");
    std::fs::write(&text, "a,b\n1,2\n").unwrap();
    assert!(OutOfSample::<Density>::read(&text, &run()).is_err());
}

#[test]
fn columns_that_are_no_predictions_are_refused() {
    let density = |column: Vec<f64>| {
        OutOfSample::<Density>::from_columns(vec![("a".into(), column)], (), None)
    };
    for bad in [f64::NAN, f64::INFINITY] {
        let error = density(vec![0.0, bad]).unwrap_err().to_string();
        assert!(error.contains("row 2") && error.contains("'a'"), "{error}");
    }
    assert!(density(vec![]).is_err());
    let nobody: Vec<(String, Vec<f64>)> = Vec::new();
    assert!(OutOfSample::<Density>::from_columns(nobody, (), None).is_err());
    let number = |column: Vec<f64>, weights: Option<Vec<f64>>| {
        OutOfSample::<Regression>::from_columns(vec![("a".into(), column)], vec![1.0, 2.0], weights)
    };
    assert!(number(vec![0.0, f64::NEG_INFINITY], None).is_err());
    assert!(number(vec![0.0], None).is_err());
    assert!(number(vec![0.0, 1.0], Some(vec![1.0])).is_err());
    assert!(number(vec![0.0, 1.0], Some(vec![0.0, 0.0])).is_err());
    assert!(number(vec![0.0, 1.0], Some(vec![1.0, -1.0])).is_err());
    assert!(number(vec![0.0, 1.0], Some(vec![1.0, 0.0])).is_ok());
}

/// What another program keeps is read where it lies, and lives as long as the matrix.
#[test]
fn columns_that_others_keep_are_not_copied() {
    let kept = Arc::new(vec![-1.0, -2.0, -0.5]);
    let place = kept.as_ptr();
    let members = vec![("a".to_string(), Values::from(Arc::clone(&kept)))];
    let oos = OutOfSample::<Density>::from_columns(members, (), None).unwrap();
    drop(kept);
    assert_eq!((oos.column(0).as_ptr(), oos.column(0)), (place, &[-1.0, -2.0, -0.5][..]));
    assert_eq!(oos.clone().column(0).as_ptr(), place);
}

#[test]
fn copies_of_a_matrix_share_its_columns() {
    let members = vec![("a".to_string(), vec![-1.0, -2.0, -0.5])];
    let oos = OutOfSample::<Density>::from_columns(members, (), None).unwrap();
    assert_eq!(oos.clone().column(0).as_ptr(), oos.column(0).as_ptr());
}

/// A Gaussian that refuses rows which do not lie where the table keeps them.
#[derive(Debug)]
struct Looking(std::ops::Range<usize>);

impl Looking {
    fn look(&self, sample: &Sample<'_, Density>) -> Result<()> {
        let is_copy = |row: &[f64]| !self.0.contains(&row.as_ptr().addr());
        match sample.x().iter().position(is_copy) {
            Some(i) => Err(Error::data(Place::row(i), "the row is a copy")),
            None => Ok(()),
        }
    }
}

impl Learner<Density> for Looking {
    fn members(&self) -> Vec<String> {
        vec!["looking".into()]
    }

    fn fit(
        &self,
        sample: &Sample<'_, Density>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Density>>>> {
        self.look(sample)?;
        // Folds of folds, too.
        if sample.rows() > 20 {
            collect(&[self], sample, &Plan::in_turn(sample.rows(), 2), OnFailure::Stop, run)?;
        }
        Gaussian::default().fit(sample, run)
    }
}

#[test]
fn folds_are_views_of_the_table() {
    let x = rows(40);
    let values = x.rows().values();
    let first = values.as_ptr().addr();
    let looking = Looking(first..first + size_of_val(&*values));
    let sample = Sample::<Density>::new(x.rows(), &()).unwrap();
    let plan = Plan::k_fold(40, 4, &run()).unwrap();
    let seen = collect(&[&looking], &sample, &plan, OnFailure::Stop, &run()).unwrap();
    let plain = collect(&[&Gaussian::default()], &sample, &plan, OnFailure::Stop, &run()).unwrap();
    assert_eq!(seen.column(0), plain.column(0));
    let copy = x.rows().select(&[0, 1, 2, 3]);
    let copy = Sample::<Density>::new(copy.rows(), &()).unwrap();
    assert!(looking.fit(&copy, &run()).is_err());
}
