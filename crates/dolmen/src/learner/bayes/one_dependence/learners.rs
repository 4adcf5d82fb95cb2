//! The learners: what they count, and the rules by which roots get their weights.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::counts::{Layout, Room};
use super::model::{Discretiser, FittedOneDependence, Mixing};
use super::tables::Tables;
use crate::combine::simplex::{JointScore, LmgOptions, LogScore, SimplexOptions};
use crate::error::{Error, Result};
use crate::learner::{Fitted, Learner, Run, Sample};
use crate::math::{first_largest, log_sum_exp};
use crate::table::encode::EncoderSpec;
use crate::table::{Kind, Rows};
use crate::task::{Classification, Joint, Labels, Target, Task};

/// What a missing value counts as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingValues {
    /// One more value of its attribute.
    #[default]
    Value,
    /// Nothing: it is left out of counts and products.
    Ignore,
}

/// Declares the parameter struct of one member of the family: the shared parameters, and its own.
macro_rules! recipe {
    ($(#[$about:meta])* $name:ident { $($(#[$field_about:meta])* $field:ident: $kind:ty = $default:expr,)* } => $rule:expr) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_about])* pub $field: $kind,)*
            /// Bins of equal frequency that numbers are cut into.
            pub bins: usize,
            /// What a missing value counts as.
            pub missing: MissingValues,
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* bins: 5, missing: MissingValues::default() }
            }
        }

        impl From<$name> for OneDependence {
            fn from(recipe: $name) -> Self {
                let rule: fn(&$name) -> Rule = $rule;
                Self { rule: rule(&recipe), bins: recipe.bins, missing: recipe.missing }
            }
        }
    };
}

recipe! {
    /// Naive Bayes: attributes independent given the class.
    NaiveBayes {} => |_| Rule::Naive
}
recipe! {
    /// One-dependence estimators: every attribute depends on the class and on one root. A ladder, one member per root.
    Ode {
        /// The columns that are roots, by name.
        root: Vec<String> = Vec::new(),
    } => |recipe| Rule::Roots(recipe.root.clone())
}
recipe! {
    /// Averaged one-dependence estimators: the mean over roots.
    Aode {
        /// Roots are used whose value has more rows than this; without any the model is naive Bayes.
        threshold: f64 = 0.0,
    } => |recipe| Rule::Frequent(recipe.threshold)
}
recipe! {
    /// Exact Bayesian model averaging over roots, weights by their evidence [Theorems 1 and 2]. With many rows it
    /// selects one root rather than combining them.
    BmaAode {} => |_| Rule::Evidence
}
recipe! {
    /// MAP weights of the roots' posteriors, on leave-one-out predictions: MAPLMDODE.
    LmdOde {
        /// Exponent of the Dirichlet prior on the weights, less 1.
        prior: f64 = 1.0,
    } => |recipe| Rule::Posterior(recipe.prior)
}
recipe! {
    /// MAP weights of the roots' joint probabilities, on leave-one-out predictions: MAPLMGODE.
    LmgOde {
        /// Exponent of the Dirichlet prior on the weights, less 1.
        prior: f64 = 1.0,
    } => |recipe| Rule::Joint(recipe.prior)
}

/// How roots get their weights.
#[derive(Debug, Clone, PartialEq)]
enum Rule {
    Naive,
    Roots(Vec<String>),
    Frequent(f64),
    Evidence,
    Posterior(f64),
    Joint(f64),
}

/// A learner of the one-dependence family, made from one of the recipes.
#[derive(Debug, Clone, PartialEq)]
pub struct OneDependence {
    rule: Rule,
    bins: usize,
    missing: MissingValues,
}

/// Rows left out in one piece of work.
const BLOCK: usize = 512;

/// What all rules begin with.
struct Counted {
    discretiser: Discretiser,
    tables: Arc<Tables>,
}

impl OneDependence {
    fn names(&self) -> Vec<String> {
        match &self.rule {
            Rule::Naive => vec!["naive-bayes".into()],
            Rule::Roots(roots) => roots.iter().map(|root| format!("ode(root={root})")).collect(),
            Rule::Frequent(0.0) => vec!["aode".into()],
            Rule::Frequent(threshold) => vec![format!("aode(threshold={threshold})")],
            Rule::Evidence => vec!["bma-aode".into()],
            Rule::Posterior(_) => vec!["lmd-ode".into()],
            Rule::Joint(_) => vec!["lmg-ode".into()],
        }
    }

    /// Bins and counts.
    fn count<T: Task<Target = Labels>>(&self, sample: &Sample<'_, T>) -> Result<Counted> {
        if sample.rows() == 0 {
            return Err(Error::shape("rows to learn from", 1, 0));
        }
        let encoder = EncoderSpec::discrete(self.bins).fit(sample.x(), sample.weights())?;
        let ignores_missing = self.missing == MissingValues::Ignore;
        let discretiser = Discretiser { encoder, ignores_missing };
        let values = discretiser.encoder.schema().fields().iter().map(|field| match &field.kind {
            Kind::Categorical { levels } => levels.len().max(1),
            Kind::Numeric => 1,
        });
        let layout = Layout::new(values.collect(), sample.target().classes().len())?;
        let counts = discretiser.count(&layout, sample);
        Ok(Counted { discretiser, tables: Arc::new(Tables::new(counts)) })
    }

    pub(super) fn fit_members<T: Task<Target = Labels>>(
        &self,
        sample: &Sample<'_, T>,
        run: &Run,
    ) -> Result<Vec<FittedOneDependence>> {
        let counted = run.install(|| self.count(sample))?;
        let mut notes = Vec::new();
        let mixings = match &self.rule {
            Rule::Naive => vec![Mixing::Naive],
            Rule::Roots(roots) => roots
                .iter()
                .map(|root| root_index(root, sample.x()).map(Mixing::Root))
                .collect::<Result<_>>()?,
            Rule::Frequent(threshold) => {
                if threshold.is_nan() {
                    return Err(Error::param("threshold", "a number", threshold));
                }
                vec![Mixing::Frequent(*threshold)]
            }
            Rule::Evidence => vec![Mixing::Joint(counted.evidence_weights(&mut notes))],
            Rule::Posterior(prior) => {
                vec![Mixing::Posterior(counted.posterior_weights(sample, *prior, run)?)]
            }
            Rule::Joint(prior) => {
                vec![Mixing::Joint(counted.joint_weights(sample, *prior, &mut notes, run)?)]
            }
        };
        let model = |mixing| {
            let tables = Arc::clone(&counted.tables);
            FittedOneDependence::new(counted.discretiser.clone(), tables, mixing, notes.clone())
        };
        Ok(mixings.into_iter().map(model).collect())
    }
}

fn root_index(root: &str, x: Rows<'_>) -> Result<usize> {
    let mut names = x.schema().fields().iter().map(|field| field.name.as_str());
    let found = names.position(|name| name == root);
    found.ok_or_else(|| Error::param("root", "an input column", root))
}

impl Counted {
    /// Weights proportional to the evidence of each root.
    fn evidence_weights(&self, notes: &mut Vec<String>) -> Vec<f64> {
        let evidence = self.tables.log_evidence();
        let total = log_sum_exp(&evidence);
        let weights: Vec<f64> = evidence.iter().map(|log| (log - total).exp()).collect();
        let best = first_largest(&weights);
        if weights[best] > 0.99 {
            let name = &self.discretiser.encoder.schema().fields()[best].name;
            notes.push(format!("Bayesian averaging has selected the root '{name}'"));
        }
        weights
    }

    /// For some rows and every root ln p_u(c_i, x_i) and ln p_u(x_i), as if the row had not been counted.
    fn left_out<T: Task<Target = Labels>>(
        &self,
        sample: &Sample<'_, T>,
        rows: Range<usize>,
    ) -> Vec<(f64, f64)> {
        let layout = self.tables.layout();
        let (mut room, mut joint) = (Room::default(), vec![0.0; layout.classes()]);
        let mut found = Vec::with_capacity(rows.len() * layout.attributes());
        for i in rows {
            self.discretiser.read(layout, sample.x().row(i), &mut room);
            let class = sample.target().class(i);
            for u in 0..layout.attributes() {
                let own = (class, sample.weight(i));
                self.tables.rooted_without(u, &room.slots, own, &mut joint);
                found.push((joint[class], log_sum_exp(&joint)));
            }
        }
        found
    }

    /// For every root a column of log p_u(c_i, x_i), and one of log p_u(x_i).
    fn left_out_columns<T: Task<Target = Labels>>(
        &self,
        sample: &Sample<'_, T>,
    ) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let roots = self.tables.layout().attributes();
        let block = |b: usize| b * BLOCK..((b + 1) * BLOCK).min(sample.rows());
        let blocks: Vec<Vec<(f64, f64)>> = (0..sample.rows().div_ceil(BLOCK))
            .into_par_iter()
            .map(|b| self.left_out(sample, block(b)))
            .collect();
        let root = |u: usize| blocks.iter().flat_map(move |block| block[u..].iter().step_by(roots));
        let own = |u: usize| root(u).map(|(own, _)| *own).collect();
        let all = |u: usize| root(u).map(|(_, all)| *all).collect();
        ((0..roots).map(own).collect(), (0..roots).map(all).collect())
    }

    fn posterior_weights<T: Task<Target = Labels>>(
        &self,
        sample: &Sample<'_, T>,
        prior: f64,
        run: &Run,
    ) -> Result<Vec<f64>> {
        let (mut own, all) = run.install(|| self.left_out_columns(sample));
        for (own, all) in own.iter_mut().zip(&all) {
            own.iter_mut().zip(all).for_each(|(own, all)| *own -= all);
        }
        let roots = own.len();
        let problem = LogScore::from_log(own)?;
        let problem = match sample.weights() {
            Some(weights) => problem.weighted(weights)?,
            None => problem,
        };
        let problem = problem.with_prior(&vec![prior + 1.0; roots])?;
        Ok(problem.solve(&SimplexOptions::default(), run)?.weights)
    }

    fn joint_weights<T: Task<Target = Labels>>(
        &self,
        sample: &Sample<'_, T>,
        prior: f64,
        notes: &mut Vec<String>,
        run: &Run,
    ) -> Result<Vec<f64>> {
        let (own, all) = run.install(|| self.left_out_columns(sample));
        let roots = own.len();
        let problem = JointScore::from_log(own, all)?;
        let problem = match sample.weights() {
            Some(weights) => problem.weighted(weights)?,
            None => problem,
        };
        let problem = problem.with_prior(&vec![prior + 1.0; roots])?;
        let solution = problem.solve(&LmgOptions::default(), run)?;
        if !solution.converged {
            notes.push(format!("the weights' KKT residual is {:.1e}", solution.residual));
        }
        Ok(solution.weights)
    }
}

impl Learner<Classification> for OneDependence {
    fn members(&self) -> Vec<String> {
        self.names()
    }

    fn fit(
        &self,
        sample: &Sample<'_, Classification>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Classification>>>> {
        let models = self.fit_members(sample, run)?.into_iter();
        Ok(models.map(|model| Box::new(model) as Box<dyn Fitted<Classification>>).collect())
    }
}

impl Learner<Joint> for OneDependence {
    fn members(&self) -> Vec<String> {
        self.names()
    }

    fn fit(&self, sample: &Sample<'_, Joint>, run: &Run) -> Result<Vec<Box<dyn Fitted<Joint>>>> {
        if matches!(self.rule, Rule::Posterior(_)) {
            let expected = "a joint probability (lmd-ode mixes posteriors)";
            return Err(Error::param("lmd-ode", expected, "none"));
        }
        let models = self.fit_members(sample, run)?.into_iter();
        Ok(models.map(|model| Box::new(model) as Box<dyn Fitted<Joint>>).collect())
    }
}
