//! Model files whose checksum is right and whose content is not: whatever stands in them, they are refused or used, and
//! nothing panics.
//!
//! Every kind of model is stored, one value of its file changed at a time, read and asked to predict. `DOLMEN_FUZZ=1000` makes
//! so many changes of each file instead of a few. A change that panics is kept in `tests/fixtures/damaged`.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use dolmen::catalogue::{Catalogue, Catalogued};
use dolmen::ensemble::{CalibrationKind, Check, Ending, Ensemble, Stack};
use dolmen::learner::{Fitted, Sample, predict};
use dolmen::recipe::ModelFile;
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::store::Record;
use dolmen::table::{Features, Field, Kind, Schema};
use dolmen::target::{Labels, Target};
use dolmen::task::{Classification, Density, Joint, Regression};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::forged::Value;

const ROWS: usize = 36;
/// Changes of each file, unless more are asked for.
const FEW: usize = 30;

/// One pool for all: thousands of models are tried, and a thread for each would be most of the time.
fn run() -> &'static Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    RUN.get_or_init(|| Run::with_threads(3, 2).unwrap())
}

/// Two columns of numbers, and one of categories where the task's learners take them.
fn columns(mixed: bool) -> Arc<Schema> {
    let field = |name: &str, kind| Field { name: name.into(), kind };
    let levels = ["red", "green", "blue"].map(String::from).into();
    let third = if mixed { Kind::Categorical { levels } } else { Kind::Numeric };
    Arc::new(Schema::new(vec![
        field("a", Kind::Numeric),
        field("b", Kind::Numeric),
        field("c", third),
    ]))
}

fn rows(mixed: bool) -> Features {
    let cell = |at: usize| match at % 3 {
        2 => (at / 3 % 3) as f64,
        _ => (at as f64 * 1.7).sin() + (at / 3 % 2) as f64,
    };
    Features::new((0..3 * ROWS).map(cell).collect::<Vec<f64>>(), columns(mixed)).unwrap()
}

/// Rows a model may meet: those it learned from, unknown levels, extreme and missing numbers.
fn met(schema: &Arc<Schema>) -> Features {
    let mut values = rows(true).rows().values().to_vec();
    for odd in [0.0, 3.0, 1e300, -1e300, 1e-300, f64::NAN] {
        values.extend([odd, 1.0, odd.clamp(0.0, 3.0)]);
    }
    values.truncate(values.len() / schema.len() * schema.len());
    Features::new(values, Arc::clone(schema)).unwrap()
}

/// How a stack around the model is made: the combiner, and what else is stored with it.
struct Around {
    combiner: &'static str,
    ending: Ending,
    calibration: Option<CalibrationKind>,
}

const PLAIN: Around = Around { combiner: "uniform", ending: Ending::Refit, calibration: None };

fn file<T: Catalogued>(members: &[&str], around: &Around, target: &T::Target) -> ModelFile {
    let x = rows(T::HAS_TARGET && members[0] != "bayes(density=gaussian)");
    let sample = Sample::<T>::new(x.rows(), target).unwrap();
    let learner = |text: &&str| {
        Catalogue::standard().learner_for(&Spec::parse(text).unwrap(), x.rows().schema()).unwrap()
    };
    let combine = T::combiner(&Spec::parse(around.combiner).unwrap()).unwrap();
    let mut stack = Stack::choosing(vec![combine])
        .members(members.iter().map(learner))
        .folds(3)
        .ending(around.ending)
        .check(Check::Matrix)
        .replaced_if_not_better(false);
    if let Some(kind) = around.calibration {
        stack = stack.calibrated(kind);
    }
    let ensemble = stack.fit_ensemble(&sample, run()).unwrap();
    let named = T::HAS_TARGET.then(|| "target".to_string());
    let (schema, classes) = (Schema::clone(x.rows().schema()), target.classes().to_vec());
    ModelFile::new::<T>(schema, named, classes, ensemble.record().unwrap())
}

/// Everything the program asks of a model that it has read.
fn use_model<T: Catalogued>(file: &ModelFile) -> dolmen::Result<Ensemble<T>> {
    let model: Ensemble<T> = file.restore(Catalogue::standard().registry())?;
    let x = met(&Arc::new(file.schema.clone()));
    // Missing values may be refused; the rows before them are predicted all the same.
    for rows in [x.rows(), x.rows().slice(0..ROWS.min(x.rows().rows()))] {
        let _ = predict(&model, rows, run());
        for member in model.models() {
            let _ = predict(member, rows, run());
        }
    }
    for member in model.models() {
        let _ = (member.diagnostics(), member.free_parameters());
    }
    model.combination().diagnostics();
    if let Some(density) = model.density() {
        let mut row = vec![0.0; file.schema.len()];
        density.sample_into(&mut run().rng(), &mut row);
    }
    let _ = model.record();
    Ok(model)
}

/// Reads and uses a file of whatever task it is for.
fn use_bytes(bytes: &[u8]) -> dolmen::Result<()> {
    let file = ModelFile::decode(bytes)?;
    if file.is::<Density>() {
        use_model::<Density>(&file)?;
    } else if file.is::<Joint>() {
        use_model::<Joint>(&file)?;
    } else if file.is::<Classification>() {
        use_model::<Classification>(&file)?;
    } else {
        let model = use_model::<Regression>(&file)?;
        let x = met(&Arc::new(file.schema.clone()));
        let _ = model.intervals(x.rows().slice(0..3), 0.8, run());
    }
    Ok(())
}

fn changes() -> usize {
    std::env::var("DOLMEN_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(FEW)
}

/// Changes a file again and again; says which changes panicked, and keeps them.
fn fuzz(name: &str, file: &ModelFile) -> Vec<PathBuf> {
    let bytes = file.encode().unwrap();
    use_bytes(&bytes).unwrap();
    let whole = Value::of_file(&bytes);
    assert_eq!(whole.to_file(), bytes, "{name}: the forger cannot even copy");
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut kept = Vec::new();
    for change in 0..changes() {
        let mut forged = whole.clone();
        (0..=change % 3).for_each(|_| forged.mutate(&mut rng));
        let bytes = forged.to_file();
        if catch_unwind(AssertUnwindSafe(|| use_bytes(&bytes))).is_err() {
            let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
            let path =
                Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{plain}-{change}.dolmen"));
            std::fs::write(&path, bytes).unwrap();
            kept.push(path);
        }
    }
    kept
}

fn fuzz_all<T: Catalogued>(specs: &[&str], target: &T::Target) {
    let mut kinds = BTreeSet::new();
    let mut panicked = Vec::new();
    for spec in specs {
        panicked.extend(fuzz(&format!("{}{spec}", T::NAME), &file::<T>(&[spec], &PLAIN, target)));
        kinds.insert(Spec::parse(spec).unwrap().kind);
    }
    assert!(panicked.is_empty(), "panics: {panicked:#?}");
    for entry in Catalogue::standard().learners::<T>() {
        let elsewhere = ["stack", "encoded"].contains(&entry.kind());
        assert!(elsewhere || kinds.contains(entry.kind()), "{} is not tried", entry.kind());
    }
}

fn labels() -> Labels {
    let classes = ["yes", "no", "maybe"].map(String::from);
    Labels::new(classes, (0..ROWS as u32).map(|i| i * i % 7 % 3).collect()).unwrap()
}

fn numbers() -> Vec<f64> {
    (0..ROWS).map(|i| (i as f64 * 0.9).cos() * 3.0).collect()
}

#[test]
fn forged_densities() {
    let specs = [
        "gaussian",
        "kernel",
        "mixture(components=2)",
        "mixture(components=2, covariance=tied)",
        "mixture(components=2, covariance=diagonal)",
        "atoms(components=2)",
        "averaged(of=gaussian, fits=3)",
        "tuned(of=mixture(components=[1, 2]), folds=3)",
        "stack(members=[gaussian, kernel], folds=3)",
        "encoded(of=gaussian)",
    ];
    fuzz_all::<Density>(&specs, &());
}

#[test]
fn forged_classifiers() {
    let specs = [
        "class-frequencies",
        "bayes(density=gaussian)",
        "neighbours(k=3)",
        "svm",
        "tree",
        "boost(rounds=4, min_leaf=2)",
        "naive-bayes",
        "ode",
        "aode",
        "a2de(bins=2)",
        "bma-aode",
        "lmd-ode",
        "lmg-ode",
        "logistic(lambda=1)",
        "network(hidden=4)",
        "deep-ensemble(copies=2, hidden=3)",
        "forest(trees=3)",
        "extra-trees(trees=3)",
        "adaboost(rounds=3)",
        "adaboost(rounds=2, of=logistic(lambda=1))",
        "ordinal(of=tree(depth=2), order=[no, maybe, yes])",
        "experts(count=2)",
        "averaged(of=tree, fits=2)",
        "tuned(of=tree, folds=3)",
    ];
    fuzz_all::<Classification>(&specs, &labels());
}

#[test]
fn forged_joints() {
    let specs = [
        "bayes(density=gaussian)",
        "naive-bayes",
        "ode",
        "aode",
        "a2de(bins=2)",
        "lmg-ode",
        "averaged(of=aode, fits=2)",
    ];
    let mut panicked = Vec::new();
    for spec in specs {
        panicked.extend(fuzz(&format!("joint{spec}"), &file::<Joint>(&[spec], &PLAIN, &labels())));
    }
    assert!(panicked.is_empty(), "panics: {panicked:#?}");
}

#[test]
fn forged_regressions() {
    let specs = [
        "mean",
        "ridge",
        "neighbours(k=3)",
        "svm",
        "transformed(of=ridge, scale=yeo-johnson)",
        "gaussian-process",
        "tree",
        "boost(rounds=4, min_leaf=2)",
        "network(hidden=4)",
        "deep-ensemble(copies=2, hidden=3)",
        "forest(trees=3)",
        "extra-trees(trees=3)",
        "experts(count=2)",
        "averaged(of=tree, fits=2)",
        "tuned(of=tree, folds=3)",
    ];
    fuzz_all::<Regression>(&specs, &numbers());
}

#[test]
fn forged_combinations() {
    let around = |combiner, ending, calibration| Around { combiner, ending, calibration };
    let members = ["class-frequencies", "tree"];
    let mut panicked = Vec::new();
    for (combiner, calibration) in [
        ("simplex", None),
        ("log-pool", Some(CalibrationKind::Temperature)),
        ("gate(lambda=[1])", Some(CalibrationKind::Isotonic)),
        ("logistic(lambda=1)", None),
        ("logistic(lambda=1, on=logits, inputs=true)", None),
    ] {
        let around = around(combiner, Ending::Average, calibration);
        let file = file::<Classification>(&members, &around, &labels());
        panicked.extend(fuzz(&format!("classes{combiner}"), &file));
    }
    for combiner in ["simplex", "gate(lambda=[1])", "ridge(lambda=1)"] {
        let around = around(combiner, Ending::Average, None);
        let file = file::<Regression>(&["mean", "tree"], &around, &numbers());
        panicked.extend(fuzz(&format!("numbers{combiner}"), &file));
    }
    assert!(panicked.is_empty(), "panics: {panicked:#?}");
}

/// What once panicked, or took all the stack or memory.
#[test]
fn files_that_did_harm_before() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/damaged"));
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let used = catch_unwind(AssertUnwindSafe(|| use_bytes(&bytes)));
        assert!(used.is_ok(), "{} panics", path.display());
    }
}

/// Records within records, each with a copy of all those within.
#[test]
fn thousands_of_models_within_one_another() {
    #[derive(serde::Serialize)]
    struct Body {
        fits: Vec<Record>,
    }

    let whole = file::<Density>(&["gaussian"], &PLAIN, &());
    let mut model = whole.model.clone();
    for _ in 0..3000 {
        model = Record::new("fold average", 1, &Body { fits: vec![model] }).unwrap();
    }
    let error = Catalogue::standard().registry().model::<Density>(&model).unwrap_err().to_string();
    assert!(error.contains("within one another"), "{error}");
}

/// Sound models in a file that says something else of them.
#[test]
fn models_of_other_columns_classes_and_tasks() {
    let file = file::<Classification>(&["tree", "naive-bayes"], &PLAIN, &labels());
    let refused = |file: &ModelFile| {
        let restored = file
            .restore::<Classification, Ensemble<Classification>>(Catalogue::standard().registry());
        restored.unwrap_err().to_string()
    };
    let two = ModelFile { classes: ["yes", "no"].map(String::from).to_vec(), ..file.clone() };
    assert!(refused(&two).contains("expected 2, found 3"), "{}", refused(&two));
    let none = ModelFile { classes: Vec::new(), ..file.clone() };
    assert!(refused(&none).contains("classification"), "{}", refused(&none));
    let schema = Schema::new(file.schema.fields()[..2].to_vec());
    assert!(refused(&ModelFile { schema, ..file.clone() }).contains("columns"));
    let schema = Schema::clone(&columns(false));
    assert!(!refused(&ModelFile { schema, ..file.clone() }).is_empty());
    assert!(!refused(&ModelFile { target: None, ..file.clone() }).is_empty());
    assert!(!refused(&ModelFile { task: "regression".into(), ..file }).is_empty());
}
