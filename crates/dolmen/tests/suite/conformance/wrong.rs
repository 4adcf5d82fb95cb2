//! Learners that are wrong are noticed.

use dolmen::Result;
use dolmen::learner::{Fitted, Learner, Sample, Simple, SimpleLearner, SimpleModel, Stored, check};
use dolmen::run::Run;
use dolmen::store::{Parameters, Record, Registry};
use dolmen::table::Rows;
use dolmen::target::Labels;
use dolmen::task::{Classification, Regression, Task};
use serde::{Deserialize, Serialize};

use super::{ROWS, rows};

/// What the suite says of a regression learner.
fn complaints_on<M: Stored<Regression>>(learner: &dyn Learner<Regression>) -> String {
    let x = rows();
    let y: Vec<f64> = (0..ROWS).map(|i| i as f64).collect();
    let sample = Sample::new(x.rows(), &y).unwrap();
    check::learner(learner, &sample, &Registry::default().with_model::<_, M>()).join("\n")
}

fn assert_one(complaints: &str, words: &str) {
    assert!(complaints.contains(words), "not '{words}' but: {complaints}");
    assert_eq!(complaints.lines().count(), 1, "{complaints}");
}

/// Says a row's number in its block.
#[derive(Debug, Serialize, Deserialize)]
struct Positional {}

impl Fitted<Regression> for Positional {
    fn parameters(&self) -> Parameters {
        Parameters::new("positional")
    }

    fn width(&self) -> usize {
        1
    }
    fn predict_into(&self, _x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        out.iter_mut().enumerate().for_each(|(i, out)| *out = i as f64);
        Ok(())
    }
    fn record(&self) -> Result<Record> {
        Record::new(Self::KIND, Self::VERSION, self)
    }
}

impl Stored<Regression> for Positional {
    const KIND: &'static str = "test.positional";
    const VERSION: u32 = 1;
    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        record.read()
    }
}

#[derive(Debug)]
struct ByPosition;

impl Learner<Regression> for ByPosition {
    fn members(&self) -> Vec<String> {
        vec!["by position".into()]
    }
    fn fit(
        &self,
        _sample: &Sample<'_, Regression>,
        _run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        Ok(vec![Box::new(Positional {})])
    }
}

#[test]
fn a_prediction_that_depends_on_the_rows_around_it_is_noticed() {
    assert_one(&complaints_on::<Positional>(&ByPosition), "depends on the rows around it");
}

/// A constant, and what else a wrong learner may do.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Constant {
    value: f64,
    #[serde(skip)]
    forgotten: f64,
}

impl SimpleModel<Regression> for Constant {
    const KIND: &'static str = "test.constant";
    fn width(&self) -> usize {
        1
    }
    fn predict_row(&self, _row: &[f64], out: &mut [f64]) {
        out[0] = self.value + self.forgotten;
    }
}

#[derive(Debug)]
enum Wrong {
    Forgets,
    PanicsOnOneRow,
    CountsThreads,
    SaysNan,
    Nameless,
    CannotFit,
}

impl SimpleLearner<Regression> for Wrong {
    type Model = Constant;
    fn name(&self) -> String {
        if matches!(self, Self::Nameless) { " ".into() } else { format!("{self:?}") }
    }
    fn fit(&self, sample: &Sample<'_, Regression>, run: &Run) -> Result<Constant> {
        let constant = |value: f64| Ok(Constant { value, forgotten: 0.0 });
        match self {
            Self::Forgets => Ok(Constant { value: 1.0, forgotten: 2.0 }),
            Self::PanicsOnOneRow => {
                assert!(sample.rows() != 1, "this learner is wrong on purpose");
                constant(1.0)
            }
            Self::CountsThreads => constant(run.threads() as f64),
            Self::SaysNan => constant(f64::NAN),
            Self::Nameless => constant(1.0),
            Self::CannotFit => Err(dolmen::Error::shape("anything", 1, 0)),
        }
    }
}

#[test]
fn other_wrong_learners_are_noticed() {
    let complaints = |wrong: Wrong| complaints_on::<Simple<Constant>>(&Simple(wrong));
    assert_one(&complaints(Wrong::Forgets), "after being stored and read back");
    assert_one(&complaints(Wrong::PanicsOnOneRow), "panics on one row");
    assert_one(&complaints(Wrong::CountsThreads), "other predictions on two threads");
    assert_one(&complaints(Wrong::Nameless), "is empty or used twice");
    assert_one(&complaints(Wrong::CannotFit), "does not fit the sample");
    assert!(complaints(Wrong::SaysNan).contains("predicts the row [NaN]"));
    // A model whose kind the registry does not know cannot be read back.
    let unknown = complaints_on::<Positional>(&Simple(Wrong::Nameless));
    assert!(unknown.contains("cannot be stored and read back"), "{unknown}");
}

/// Two members where it should have one, or one name for both.
#[derive(Debug)]
struct Pair {
    names: Vec<&'static str>,
}

impl Learner<Regression> for Pair {
    fn members(&self) -> Vec<String> {
        self.names.iter().map(ToString::to_string).collect()
    }
    fn fit(
        &self,
        _sample: &Sample<'_, Regression>,
        _run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        let model = || Box::new(Simple(Constant::default())) as Box<dyn Fitted<Regression>>;
        Ok(vec![model(), model()])
    }
}

#[test]
fn names_that_do_not_tell_members_apart_are_noticed() {
    let complaints = |names| complaints_on::<Simple<Constant>>(&Pair { names });
    assert_eq!(complaints(vec!["one", "two"]), "");
    assert_one(&complaints(vec!["same", "same"]), "'same' is empty or used twice");
    assert!(complaints(vec!["one"]).contains("names 1 members but fits 2"));
}

/// A constant whose shortcut says something else, and that does not hear of cancelling.
#[derive(Debug)]
struct Hasty;

impl Learner<Regression> for Hasty {
    fn members(&self) -> Vec<String> {
        vec!["hasty".into()]
    }
    fn fit(
        &self,
        _sample: &Sample<'_, Regression>,
        _run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        Ok(vec![Box::new(Simple(Constant::default()))])
    }
    fn out_of_sample(
        &self,
        _sample: &Sample<'_, Regression>,
        plan: &dolmen::plan::Plan,
        _run: &Run,
    ) -> Result<dolmen::learner::Block> {
        let ones = |split: &dolmen::plan::Split| vec![vec![1.0; split.test().len()]];
        let splits = plan.splits().iter().map(ones).collect();
        Ok(dolmen::learner::Block { splits, failures: Vec::new() })
    }
}

#[test]
fn shortcuts_that_are_none_are_noticed() {
    let complaints = complaints_on::<Simple<Constant>>(&Hasty);
    assert!(complaints.contains("is not what refitting gives"), "{complaints}");
    assert!(complaints.contains("goes on through all splits"), "{complaints}");
}

/// Class probabilities that do not sum to 1.
#[derive(Debug)]
struct Generous;

#[derive(Debug, Serialize, Deserialize)]
struct Halves(usize);

impl SimpleLearner<Classification> for Generous {
    type Model = Halves;
    fn name(&self) -> String {
        "generous".into()
    }
    fn fit(&self, sample: &Sample<'_, Classification>, _run: &Run) -> Result<Halves> {
        Ok(Halves(Classification::width(sample.target())))
    }
}

impl SimpleModel<Classification> for Halves {
    const KIND: &'static str = "test.halves";
    fn width(&self) -> usize {
        self.0
    }
    fn predict_row(&self, _row: &[f64], out: &mut [f64]) {
        out.fill(0.5);
    }
}

#[test]
fn probabilities_that_do_not_sum_to_one_are_noticed() {
    let x = rows();
    let classes = ["a", "b", "c"].map(String::from);
    let labels = Labels::new(classes, (0..ROWS as u32).map(|i| i % 3).collect()).unwrap();
    let sample = Sample::new(x.rows(), &labels).unwrap();
    let registry = Registry::default().with_model::<_, Simple<Halves>>();
    let complaints = check::learner(&Simple(Generous), &sample, &registry);
    assert_eq!(complaints, ["generous: predicts the row [0.5, 0.5, 0.5]"]);
}
