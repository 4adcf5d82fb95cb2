//! The importance of inputs for a whole stack, and how its predictions move with them.
//!
//! After a fit the members kept are fitted on the folds once more (as they were for the matrix, bit for bit), so that each row is predicted, with
//! its inputs shuffled, by fits that had not seen it. Given rows that the model has not seen, it is asked itself.

use rand::seq::SliceRandom;

use super::Evidence;
use crate::ensemble::Ensemble;
use crate::error::Result;
use crate::evaluate::explain::{
    DependenceOptions, Importance, ImportanceOptions, Input, dependence, importance, inputs,
};
use crate::learner::{Learner, Sample, predict};
use crate::oos::{self, MemberFits};
use crate::plan::Plan;
use crate::run::Run;
use crate::table::{Conventions, Features, Rows};
use crate::target::Target;
use crate::task::{Joint, Task};

/// Classes whose curves are kept: the most frequent ones.
const MOST_OUTPUTS: usize = 8;

/// How rows that are given for it explain a stack: while somebody waits, so by fewer predictions than in a fit. An input is shuffled once,
/// because further rows tell more than further shuffles of the same ones; the report says how many rows there were.
const ONCE: usize = 1;
const FEWEST_ROWS: usize = 200;
const MOST_ROWS: usize = 1000;
/// Predictions that this takes, beside those of rows as they are, while there are not very many inputs.
const PREDICTIONS: usize = 8000;
const DEPENDENCE: DependenceOptions =
    DependenceOptions { most_inputs: 6, most_rows: 80, most_values: 16 };

/// A stack and the rows by which it is explained.
pub(super) struct Explained<'a, T: Task> {
    pub(super) ensemble: &'a Ensemble<T>,
    pub(super) sample: Sample<'a, T>,
    pub(super) conventions: &'a Conventions,
}

impl<T: Task> Explained<'_, T> {
    /// After a fit: importances from the fits on the folds of its plan, dependence by the stack itself.
    pub(super) fn add_to(
        &self,
        evidence: &mut Evidence,
        learners: &[Box<dyn Learner<T>>],
        plan: &Plan,
        run: &Run,
    ) -> Result<()> {
        if !T::HAS_TARGET {
            return Ok(());
        }
        let learners: Vec<&dyn Learner<T>> = learners.iter().map(AsRef::as_ref).collect();
        let names: Vec<String> = self.ensemble.names().map(String::from).collect();
        let members = run.stream("stack").stream("members");
        let fits = oos::fold_fits(&learners, &names, &self.sample, plan, &members)?;
        let mut split_of = vec![None; self.sample.rows()];
        for (v, split) in plan.splits().iter().enumerate() {
            split.test().iter().for_each(|&i| _ = split_of[i].get_or_insert(v));
        }
        let covered: Vec<usize> = (0..split_of.len()).filter(|&i| split_of[i].is_some()).collect();
        let options = ImportanceOptions::default();
        let rows = chosen(&covered, options.most_rows, &run.stream("rows"));
        let of_fold =
            |v: usize| (0..rows.len()).filter(|&k| split_of[rows[k]] == Some(v)).collect();
        let folds: Vec<Vec<usize>> = (0..plan.splits().len()).map(of_fold).collect();
        let unseen = |x: Rows<'_>| self.by_folds(&names, &fits, &folds, x);
        evidence.importance = Some(self.importance(&unseen, &rows, options.repeats, run)?);
        self.add_dependence(evidence, DependenceOptions::default(), run)
    }

    /// Given rows that the stack has not seen; nothing of one row, whose inputs cannot be shuffled.
    pub(super) fn add_of_model(&self, evidence: &mut Evidence, run: &Run) -> Result<()> {
        if !T::HAS_TARGET || self.sample.rows() < 2 {
            return Ok(());
        }
        let all: Vec<usize> = (0..self.sample.rows()).collect();
        let most = (PREDICTIONS / self.inputs().len().max(1)).clamp(FEWEST_ROWS, MOST_ROWS);
        let rows = chosen(&all, most, &run.stream("rows"));
        let own = |x: Rows<'_>| predict(self.ensemble, x, run);
        evidence.importance = Some(self.importance(&own, &rows, ONCE, run)?);
        self.add_dependence(evidence, DEPENDENCE, run)
    }

    fn inputs(&self) -> Vec<Input> {
        let dates = self.conventions.dates.iter();
        let together: Vec<(String, Vec<String>)> =
            dates.map(|dates| (dates.column.clone(), dates.names().collect())).collect();
        inputs(self.sample.x(), &together)
    }

    fn importance(
        &self,
        predict: &(dyn Fn(Rows<'_>) -> Result<Vec<f64>> + Sync),
        rows: &[usize],
        repeats: usize,
        run: &Run,
    ) -> Result<Importance> {
        let part = self.sample.select(rows);
        let part = part.borrow();
        let weights: Vec<f64> = (0..rows.len()).map(|i| part.weight(i)).collect();
        let shares = crate::solver::shares(&weights, rows.len())?;
        let known = (part.target(), &shares[..]);
        importance::<T>(
            predict,
            part.x(),
            known,
            &self.inputs(),
            repeats,
            &run.stream("importance"),
        )
    }

    /// What the fits of each row's fold say about it; `folds` are the places of their rows.
    fn by_folds(
        &self,
        names: &[String],
        fits: &[MemberFits<T>],
        folds: &[Vec<usize>],
        x: Rows<'_>,
    ) -> Result<Vec<f64>> {
        let width = T::width(self.sample.target());
        let mut all = vec![f64::NAN; x.rows() * width];
        for (v, places) in folds.iter().enumerate().filter(|(_, places)| !places.is_empty()) {
            let part = x.select(places);
            let mut out = vec![0.0; places.len() * width];
            let own = names.iter().filter_map(|name| fits.iter().find(|(other, _)| other == name));
            let models = own.map(|(_, fits)| fits[v].as_ref());
            self.ensemble.predict_with(models, part.rows(), &mut out)?;
            for (&place, row) in places.iter().zip(out.chunks_exact(width)) {
                all[place * width..(place + 1) * width].copy_from_slice(row);
            }
        }
        Ok(all)
    }

    /// How predictions move with the most important inputs.
    fn add_dependence(
        &self,
        evidence: &mut Evidence,
        options: DependenceOptions,
        run: &Run,
    ) -> Result<()> {
        let Some(importance) = &evidence.importance else { return Ok(()) };
        let all: Vec<usize> = (0..self.sample.rows()).collect();
        let rows = chosen(&all, options.most_rows, &run.stream("dependence"));
        let x: Features = self.sample.x().select(&rows);
        let classes = self.sample.target().classes();
        let outputs = if classes.is_empty() { vec![String::new()] } else { classes.to_vec() };
        let predict = |x: Rows<'_>| {
            let predicted = predict(self.ensemble, x, run)?;
            let is_joint = T::LOG_SPACE && T::CLASSES;
            Ok(if is_joint { Joint::posteriors(&predicted, classes.len()) } else { predicted })
        };
        let labels = self.sample.target().labels();
        let kept = labels.map_or_else(Vec::new, |labels| labels.frequent(MOST_OUTPUTS));
        let inputs = self.inputs();
        let most = importance.inputs.iter().take(options.most_inputs);
        for input in most.filter_map(|own| inputs.iter().find(|input| input.name == own.name)) {
            let values = options.most_values;
            let found = dependence(&predict, x.rows(), input, &outputs, values, run)?;
            evidence.dependence.extend(found.map(|mut found| {
                // Of two classes one says it all.
                if found.outputs.len() == 2 {
                    found.outputs.remove(0);
                }
                if found.outputs.len() > MOST_OUTPUTS {
                    found.outputs = kept.iter().map(|&c| found.outputs[c].clone()).collect();
                }
                found
            }));
        }
        Ok(())
    }
}

/// So many rows at most, drawn from all, in their order.
fn chosen(rows: &[usize], most: usize, run: &Run) -> Vec<usize> {
    if rows.len() <= most {
        return rows.to_vec();
    }
    let mut order = rows.to_vec();
    let mut drawn = order.partial_shuffle(&mut run.rng(), most).0.to_vec();
    drawn.sort_unstable();
    drawn
}
