//! Every combiner that can be named passes the conformance suite, and the suite notices combiners that are wrong.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use dolmen::Result;
use dolmen::catalogue::{Catalogue, Catalogued};
use dolmen::combine::{Combination, Combiner, Evidence, LinearPool, check, log_evidence};
use dolmen::learner::{Learner, Sample};
use dolmen::oos::{OnFailure, OutOfSample, collect};
use dolmen::plan::Plan;
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::Features;
use dolmen::target::Labels;
use dolmen::task::{Classification, Density, Joint, Regression};

const ROWS: usize = 60;

fn rows() -> Features {
    let value = |at: usize| (at as f64 * 2.399).sin() + 1.5 * ((at / 2 + at % 2) % 3) as f64;
    Features::numeric((0..2 * ROWS).map(value).collect(), 2).unwrap()
}

fn labels() -> Labels {
    let x = rows();
    let code = |i: usize| u32::from(x.rows().row(i)[0] + (i as f64).sin() > 1.5);
    Labels::new(["a", "b"].map(String::from), (0..ROWS).map(code).collect()).unwrap()
}

/// Puts combiners through the suite on what these members say, and returns the kinds that were tried.
fn conform<T: Catalogued>(members: &[&str], combiners: &[&str], target: &T::Target) -> Vec<String> {
    let (x, run) = (rows(), Run::with_threads(1, 1).unwrap());
    let sample = Sample::<T>::new(x.rows(), target).unwrap();
    let learner = |text: &&str| T::learner(&Spec::parse(text).unwrap()).unwrap();
    let learners: Vec<_> = members.iter().map(learner).collect();
    let borrowed: Vec<_> = learners.iter().map(AsRef::as_ref).collect();
    let plan = Plan::in_turn(ROWS, 4);
    let oos = collect(&borrowed, &sample, &plan, OnFailure::Stop, &run).unwrap();
    let log = |learner: &dyn Learner<T>| -> Vec<f64> {
        let models = learner.fit(&sample, &run).unwrap();
        models.iter().map(|m| log_evidence(m.as_ref(), &sample, &run).unwrap()).collect()
    };
    let logs: Vec<f64> = borrowed.iter().copied().flat_map(log).collect();
    let evidence = Evidence { oos: &oos, x: Some(x.rows()), log_evidence: Some(&logs) };
    let registry = Catalogue::standard().registry();
    let checked = combiners.iter().map(|text| {
        let spec = Spec::parse(text).unwrap();
        let complaints = check::combiner(T::combiner(&spec).unwrap().as_ref(), &evidence, registry);
        assert!(complaints.is_empty(), "{} {text}: {complaints:#?}", T::NAME);
        spec.kind
    });
    checked.collect()
}

#[test]
fn every_combiner_conforms() {
    let weights = ["simplex", "simplex(prior=2)", "em", "uniform", "best", "greedy"];
    let scores = ["pseudo-bma", "pseudo-bma+(draws=50)", "bma"];
    let of_logs = [&weights[..], &scores[..], &["gate(lambda=[1, 0.1])"]].concat();
    let mut checked = conform::<Density>(
        &["gaussian", "mixture(components=2)", "gaussian(covariance=diagonal)"],
        &of_logs,
        &(),
    );
    let of_classes = [
        &of_logs[..],
        &[
            "greedy(measure=brier, rounds=20)",
            "log-pool",
            "logistic",
            "logistic(on=logits, lambda=1)",
        ],
        &["logistic(lambda=auto, inputs=true)", "learner(of=tree(depth=2))"],
    ];
    let classes = ["class-frequencies", "logistic(lambda=10)", "bayes(density=gaussian)"];
    checked.extend(conform::<Classification>(&classes, &of_classes.concat(), &labels()));
    let joint = ["bayes(density=gaussian)", "bayes(density=mixture(components=2))"];
    checked.extend(conform::<Joint>(&joint, &["simplex", "uniform", "best", "bma"], &labels()));
    let x = rows();
    let y = (0..ROWS).map(|i| x.rows().row(i)[0] + (i as f64).cos()).collect();
    let of_numbers = ["simplex", "non-negative", "uniform", "best", "greedy", "ridge", "bma"];
    let more = ["ridge(lambda=auto, inputs=true)", "learner(of=neighbours(k=3))", "gate"];
    let members = ["mean", "ridge(lambda=1)", "ridge(lambda=100)"];
    checked.extend(conform::<Regression>(&members, &[&of_numbers[..], &more].concat(), &y));
    for entry in Catalogue::standard().combiners::<Classification>() {
        assert!(checked.iter().any(|kind| kind == entry.kind()), "{} is not checked", entry.kind());
    }
}

/// What a wrong combiner may do.
#[derive(Debug, Clone, Copy)]
enum Wrong {
    FirstMember,
    NoNumber,
    Nameless,
    CountsThreads,
    SumsToTwo,
}

impl Combiner<Regression> for Wrong {
    fn rungs(&self) -> Vec<String> {
        vec![if matches!(self, Self::Nameless) { " ".into() } else { format!("{self:?}") }]
    }

    fn fit(
        &self,
        evidence: &Evidence<'_, Regression>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Combination<Regression>>>> {
        let members = evidence.oos.members().len();
        let mut weights = vec![1.0 / members as f64; members];
        match self {
            Self::FirstMember => weights = (0..members).map(|m| f64::from(m == 0)).collect(),
            Self::NoNumber => weights[0] = f64::NAN,
            Self::CountsThreads => weights.fill(run.threads() as f64),
            Self::SumsToTwo => weights.fill(2.0 / members as f64),
            Self::Nameless => {}
        }
        Ok(vec![Box::new(LinearPool::new(weights))])
    }
}

#[test]
fn wrong_combiners_are_noticed() {
    let members = [("a", [1.0, 2.0, 4.0, 3.0]), ("b", [0.0, 2.5, 3.0, 3.5])];
    let members = members.map(|(name, column)| (name.to_string(), column.to_vec()));
    let target = vec![0.8, 2.2, 3.5, 3.1];
    let oos = OutOfSample::<Regression>::from_columns(members.to_vec(), target, None).unwrap();
    let complaints = |wrong: Wrong| {
        let registry = Catalogue::standard().registry();
        check::combiner(&wrong, &(&oos).into(), registry).join("\n")
    };
    assert_eq!(complaints(Wrong::FirstMember), "members in another order get other weights");
    assert!(complaints(Wrong::NoNumber).contains("has the weight NaN"));
    assert!(complaints(Wrong::Nameless).contains("is empty or used twice"));
    assert!(complaints(Wrong::CountsThreads).contains("other predictions on two threads"));
    // Weights of any sum are allowed, and then copies need not come back as they are.
    assert_eq!(complaints(Wrong::SumsToTwo), "");
}
