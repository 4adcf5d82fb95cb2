//! Members compared on random Bayesian networks [CerquidesMantaras2005 section 7.1, Table 2].
//!
//! For each kind of network and each size of the training sample, members are fitted to samples of so many networks and scored on
//! a test sample of each. Networks are independent of one another, so the plain paired t-test over them is a fair one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::duel::{Duel, Tally, duels, tally};
use super::split::{self, SplitResult};
use crate::error::{Error, Result};
use crate::generate::{BayesianNetwork, CLASS, RandomNetwork};
use crate::learner::{Learner, Sample, predict};
use crate::run::Run;
use crate::table::{Column, Features, Schema};
use crate::target::Labels;
use crate::task::Classification;

/// Which networks are drawn, and how many rows of each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkStudy {
    /// Numbers of attributes.
    pub attributes: Vec<usize>,
    /// Largest numbers of values.
    pub values: Vec<usize>,
    /// Largest induced widths.
    pub widths: Vec<usize>,
    /// Networks of each kind.
    pub networks: usize,
    /// Sizes of the training samples.
    pub rows: Vec<usize>,
    /// Rows of the test sample.
    pub test_rows: usize,
}

impl Default for NetworkStudy {
    /// A study that takes a minute or two.
    fn default() -> Self {
        Self {
            attributes: vec![5, 10, 20],
            values: vec![2, 5, 10],
            widths: vec![2, 3, 4],
            networks: 30,
            rows: vec![25, 100, 400, 1600],
            test_rows: 500,
        }
    }
}

impl NetworkStudy {
    /// One that takes seconds, to see what comes out.
    pub fn tiny() -> Self {
        Self {
            attributes: vec![5],
            values: vec![2, 5],
            widths: vec![2],
            networks: 5,
            rows: vec![25, 100],
            test_rows: 100,
        }
    }

    /// The paper's: 180 cells of 100 networks.
    pub fn full() -> Self {
        Self {
            attributes: vec![5, 10, 20, 40],
            values: vec![2, 5, 10],
            widths: vec![2, 3, 4],
            networks: 100,
            rows: vec![25, 100, 400, 1600, 6400],
            test_rows: 500,
        }
    }

    /// The kinds of networks.
    fn kinds(&self) -> Vec<RandomNetwork> {
        let mut kinds = Vec::new();
        for &attributes in &self.attributes {
            for &values in &self.values {
                for &width in &self.widths {
                    kinds.push(RandomNetwork { attributes, values, width, concentration: 1.0 });
                }
            }
        }
        kinds
    }
}

/// What the networks gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NetworkResults {
    /// One cell for each kind of network and size of the sample.
    pub cells: Vec<NetworkCell>,
    /// Wins, draws and losses over the cells.
    pub tallies: Vec<Tally>,
}

/// One kind of network and one size of the sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NetworkCell {
    /// The kind of network.
    pub network: RandomNetwork,
    /// Rows learned from.
    pub rows: usize,
    /// Members against each other, over the networks.
    pub duels: Vec<Duel>,
}

/// Compares members on random networks, which are worked on in parallel.
pub fn compare_on_networks(
    learners: &[Box<dyn Learner<Classification>>],
    study: &NetworkStudy,
    run: &Run,
) -> Result<NetworkResults> {
    if study.networks < 2 {
        return Err(Error::param("networks", "at least 2", study.networks));
    }
    if study.test_rows == 0 || study.rows.contains(&0) {
        return Err(Error::param("rows", "at least 1", 0));
    }
    let names: Vec<String> = learners.iter().flat_map(|learner| learner.members()).collect();
    let kinds = study.kinds();
    run.progress().plan((kinds.len() * study.networks) as u64);
    let one = |task: usize| -> Result<Vec<SplitResult>> {
        run.check()?;
        let (kind, network) = (task / study.networks, task % study.networks);
        // Network, test rows and sizes have numbers instead of names, which would change results that are on record
        // (`dolmen reproduce cm05-table2`, whose figures are part of the book).
        let stream = run.silent().child(kind as u64).child(network as u64);
        let drawn = kinds[kind].draw(&stream.child(0))?;
        let test = Drawn::from(&drawn, study.test_rows, &stream.child(1))?;
        let size = |(s, rows): (usize, &usize)| {
            let stream = stream.child(2 + s as u64);
            hold(learners, &Drawn::from(&drawn, *rows, &stream.child(0))?, &test, &stream.child(1))
        };
        let results = study.rows.iter().enumerate().map(size).collect();
        run.progress().advance(1, "networks");
        results
    };
    let tasks = kinds.len() * study.networks;
    let results: Vec<Vec<SplitResult>> = run.try_map(tasks, one)?;
    // By cell instead of by network.
    let mut columns: Vec<std::vec::IntoIter<SplitResult>> =
        results.into_iter().map(Vec::into_iter).collect();
    let mut cells = Vec::new();
    for (kind, networks) in kinds.iter().zip(columns.chunks_mut(study.networks)) {
        for &rows in &study.rows {
            let splits: Vec<SplitResult> = networks.iter_mut().filter_map(Iterator::next).collect();
            let duels = duels(&names, &splits);
            cells.push(NetworkCell { network: kind.clone(), rows, duels });
        }
    }
    let tallies = tally(cells.iter().map(|cell| cell.duels.as_slice()));
    Ok(NetworkResults { cells, tallies })
}

/// Rows drawn from a network: inputs and classes.
struct Drawn {
    x: Features,
    y: Labels,
}

impl Drawn {
    fn from(network: &BayesianNetwork, rows: usize, run: &Run) -> Result<Self> {
        let mut table = network.sample(rows, run)?;
        let Column::Categorical(class) = table.take(CLASS)? else {
            return Err(Error::param(CLASS, "categories", "numbers"));
        };
        let y = Labels::new(class.levels, class.codes)?;
        Ok(Self { x: Arc::new(Schema::of(&table)).encode(&table)?, y })
    }

    fn sample(&self) -> Result<Sample<'_, Classification>> {
        Sample::new(self.x.rows(), &self.y)
    }
}

fn hold(
    learners: &[Box<dyn Learner<Classification>>],
    train: &Drawn,
    test: &Drawn,
    run: &Run,
) -> Result<SplitResult> {
    let mut scored = Vec::new();
    for (l, learner) in learners.iter().enumerate() {
        for model in learner.fit(&train.sample()?, &run.child(l as u64))? {
            scored
                .push(split::score(&predict(model.as_ref(), test.x.rows(), run)?, &test.sample()?));
        }
    }
    // Nothing is shared between networks, so there is nothing to correct for.
    let (weights, combiner, kept, folds) = (None, None, None, None);
    Ok(SplitResult { scored, weights, combiner, kept, test_share: 0.0, folds })
}
