//! The learners: what they count, and the rules by which roots get their weights.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counts::{Counts, Layout};
use super::mixing::Mixing;
use super::model::{Discretiser, FittedOneDependence};
use super::passes::OneDependencePass;
use super::screen::{USUAL_MOST, screen};
use super::tables::Tables;
use super::triples::{TripleTables, Triples};
use super::weights::LeaveOut;
use crate::error::{Error, Result};
use crate::learner::Block;
use crate::learner::density::mixture::OneOrMany;
use crate::learner::pass::AnyPass;
use crate::learner::{Fitted, Learner, Sample};
use crate::plan::Plan;
use crate::run::Run;
use crate::spec::Spec;
use crate::table::encode::{Encoder, EncoderSpec};
use crate::table::{Rows, Schema};
use crate::target::{Labels, Target};
use crate::task::{Classification, Joint, Task};

/// What a missing value counts as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    ($(#[$about:meta])* $kind:literal $name:ident { $($(#[$field_about:meta])* $field:ident: $type:ty = $default:expr,)* } => $rule:expr) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_about])* pub $field: $type,)*
            /// Bins of equal frequency that numbers are cut into.
            #[schemars(range(min = 2))]
            pub bins: usize,
            /// What a missing value counts as.
            pub missing: MissingValues,
            /// Attributes at most, at least 1: of more, those are used that tell most of the class in the rows learned
            /// from (mutual information). Without it all for naive Bayes, 256 for the others, whose cost is the square of
            /// that (the cube for `a2de`). Roots that are named are always among them.
            #[schemars(range(min = 1))]
            pub columns: Option<usize>,
        }

        impl Default for $name {
            fn default() -> Self {
                let missing = MissingValues::default();
                Self { $($field: $default,)* bins: 5, missing, columns: None }
            }
        }

        impl From<$name> for OneDependence {
            fn from(recipe: $name) -> Self {
                let rule: fn(&$name) -> Rule = $rule;
                let rule = rule(&recipe);
                let names = match &rule {
                    Rule::Roots(roots) => {
                        let rung = |root: &String| Spec::rung($kind, &recipe, "root", root.as_str());
                        roots.iter().map(|root| rung(root).to_string()).collect()
                    }
                    _ => vec![Spec::of($kind, &recipe).to_string()],
                };
                let $name { bins, missing, columns, .. } = recipe;
                Self { rule, bins, missing, columns, names }
            }
        }
    };
}

recipe! {
    /// Naive Bayes: attributes independent given the class.
    "naive-bayes" NaiveBayes {} => |_| Rule::Naive
}
recipe! {
    /// One-dependence estimators: every attribute depends on the class and on one root. A ladder, one member per root.
    "ode" Ode {
        /// The columns that are roots, by name: one, or a list.
        #[serde(deserialize_with = "OneOrMany::read")]
        root: Vec<String> = Vec::new(),
    } => |recipe| Rule::Roots(recipe.root.clone())
}
recipe! {
    /// Averaged one-dependence estimators: the mean over roots.
    "aode" Aode {
        /// Roots are used whose value has more rows than this; without any the model is naive Bayes.
        threshold: f64 = 0.0,
    } => |recipe| Rule::Frequent(recipe.threshold)
}
recipe! {
    /// Averaged two-dependence estimators: the mean over pairs of roots.
    "a2de" A2de {
        /// Pairs are used whose values occur together in more rows than this; without any the model is `aode` with this
        /// threshold, and without its roots naive Bayes.
        threshold: f64 = 0.0,
    } => |recipe| Rule::FrequentPairs(recipe.threshold)
}
recipe! {
    /// Exact Bayesian model averaging over roots, weights by their evidence [Theorems 1 and 2]. With many rows it
    /// selects one root rather than combining them.
    "bma-aode" BmaAode {} => |_| Rule::Evidence
}
recipe! {
    /// MAP weights of the roots' posteriors, on leave-one-out predictions: MAPLMDODE.
    "lmd-ode" LmdOde {
        /// Exponent of the weights in their Dirichlet prior, which is the prior's parameter less 1.
        #[schemars(range(min = 0.0))]
        prior: f64 = 1.0,
    } => |recipe| Rule::Posterior(recipe.prior)
}
recipe! {
    /// MAP weights of the roots' joint probabilities, on leave-one-out predictions: MAPLMGODE.
    "lmg-ode" LmgOde {
        /// Exponent of the weights in their Dirichlet prior, which is the prior's parameter less 1.
        #[schemars(range(min = 0.0))]
        prior: f64 = 1.0,
    } => |recipe| Rule::Joint(recipe.prior)
}

/// How roots get their weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Rule {
    Naive,
    Roots(Vec<String>),
    Frequent(f64),
    FrequentPairs(f64),
    Evidence,
    Posterior(f64),
    Joint(f64),
}

/// A learner of the one-dependence family, made from one of the recipes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OneDependence {
    rule: Rule,
    bins: usize,
    missing: MissingValues,
    columns: Option<usize>,
    /// The members' names.
    names: Vec<String>,
}

/// What all rules begin with, and every model keeps.
#[derive(Debug, Clone)]
pub(super) struct Counted {
    pub(super) discretiser: Discretiser,
    pub(super) tables: Arc<Tables>,
    /// For two-dependence estimators.
    pub(super) triples: Option<Arc<TripleTables>>,
}

impl OneDependence {
    /// Posteriors are no joint probabilities.
    fn check_joint(&self) -> Result<()> {
        if matches!(self.rule, Rule::Posterior(_)) {
            let expected = "a joint probability (lmd-ode mixes posteriors)";
            return Err(Error::param("lmd-ode", expected, "none"));
        }
        Ok(())
    }

    /// How rows become values that can be counted, and where those stand.
    pub(super) fn layout<T: Task<Target = Labels>>(
        &self,
        sample: &Sample<'_, T>,
    ) -> Result<(Discretiser, Layout)> {
        if sample.rows() == 0 {
            return Err(Error::shape("rows to learn from", 1, 0));
        }
        let encoder = self.encoder_spec().fit(sample.x(), sample.weights())?;
        let mut discretiser = self.discretiser(encoder);
        let (values, classes) = (discretiser.values(), sample.target().classes().len());
        if self.screens(values.len())? {
            let layout = Layout::of(values, classes, false)?;
            discretiser.chosen = self.chosen(&discretiser, &discretiser.count(&layout, sample))?;
        }
        let layout = self.layout_of(&discretiser, classes)?;
        Ok((discretiser, layout))
    }

    /// How numbers become categories.
    pub(super) fn encoder_spec(&self) -> EncoderSpec {
        EncoderSpec::discrete(self.bins)
    }

    /// All columns, encoded so.
    pub(super) fn discretiser(&self, encoder: Encoder) -> Discretiser {
        let ignores_missing = self.missing == MissingValues::Ignore;
        Discretiser { encoder, ignores_missing, chosen: Vec::new() }
    }

    /// Which columns are used, from the counts of every column by itself.
    pub(super) fn chosen(&self, discretiser: &Discretiser, counts: &Counts) -> Result<Vec<bool>> {
        let must = match &self.rule {
            Rule::Roots(roots) => {
                let input = discretiser.encoder.input();
                roots.iter().map(|root| root_index(root, input)).collect::<Result<Vec<_>>>()?
            }
            _ => Vec::new(),
        };
        Ok(screen(counts, self.most_columns(), &must))
    }

    /// Where the values of the attributes stand.
    pub(super) fn layout_of(&self, discretiser: &Discretiser, classes: usize) -> Result<Layout> {
        Layout::of(discretiser.values(), classes, self.rule != Rule::Naive)
    }

    /// Refuses parameters that do not suit these columns.
    pub(super) fn check_columns(&self, input: &Schema) -> Result<()> {
        self.screens(input.len())?;
        match &self.rule {
            Rule::Roots(roots) => {
                roots.iter().try_for_each(|root| root_index(root, input).map(drop))
            }
            _ => Ok(()),
        }
    }

    fn most_columns(&self) -> usize {
        let usual = if self.rule == Rule::Naive { usize::MAX } else { USUAL_MOST };
        self.columns.unwrap_or(usual)
    }

    /// Whether only some of so many columns are used.
    pub(super) fn screens(&self, columns: usize) -> Result<bool> {
        match self.most_columns() {
            0 => Err(Error::param("columns", "at least 1", 0)),
            most => Ok(columns > most),
        }
    }

    /// Whether roots get their weights from rows that are left out.
    pub(super) fn leaves_rows_out(&self) -> bool {
        matches!(self.rule, Rule::Posterior(_) | Rule::Joint(_))
    }

    /// Whether triples are counted.
    pub(super) fn counts_triples(&self) -> bool {
        matches!(self.rule, Rule::FrequentPairs(_))
    }

    /// Bins and counts.
    fn count<T: Task<Target = Labels>>(&self, sample: &Sample<'_, T>) -> Result<Counted> {
        let (discretiser, layout) = self.layout(sample)?;
        let counts = discretiser.count(&layout, sample);
        let triples = self.counts_triples().then(|| discretiser.count_triples(&layout, sample));
        Ok(Counted::new(discretiser, counts, triples.transpose()?))
    }

    pub(super) fn fit_members<T: Task<Target = Labels>>(
        &self,
        sample: &Sample<'_, T>,
        run: &Run,
    ) -> Result<Vec<FittedOneDependence>> {
        let counted = run.install(|| self.count(sample))?;
        self.finish(&counted, sample, run)
    }

    /// The models that follow from the counts of the sample's rows.
    pub(super) fn finish<T: Task<Target = Labels>>(
        &self,
        counted: &Counted,
        sample: &Sample<'_, T>,
        run: &Run,
    ) -> Result<Vec<FittedOneDependence>> {
        let mut notes = counted.notes();
        let leave_out = || LeaveOut::of(sample, run);
        match self.mixing_of_rows(counted, sample, leave_out, &mut notes, run)? {
            Some((mixing, _)) => Ok(vec![FittedOneDependence::new(counted.clone(), mixing, notes)]),
            None => self.of_counts(counted),
        }
    }

    /// The weights that roots get from rows left out, with the exponent of their prior; `None` for rules by which counts decide.
    pub(super) fn mixing_of_rows<T: Task<Target = Labels>>(
        &self,
        counted: &Counted,
        sample: &Sample<'_, T>,
        leave_out: impl FnOnce() -> LeaveOut,
        notes: &mut Vec<String>,
        run: &Run,
    ) -> Result<Option<(Mixing, f64)>> {
        Ok(match self.rule {
            Rule::Posterior(prior) => {
                let weights = counted.posterior_weights(sample, &leave_out(), prior, run)?;
                Some((Mixing::Posterior(weights), prior))
            }
            Rule::Joint(prior) => {
                let weights = counted.joint_weights(sample, &leave_out(), prior, notes, run)?;
                Some((Mixing::Joint(weights), prior))
            }
            _ => None,
        })
    }

    /// The models that follow from counts alone; roots that get their weights from rows left out weigh alike.
    pub(super) fn of_counts(&self, counted: &Counted) -> Result<Vec<FittedOneDependence>> {
        let mut notes = counted.notes();
        let mixings = match &self.rule {
            Rule::Naive => vec![Mixing::Naive],
            Rule::Roots(roots) => roots
                .iter()
                .map(|root| {
                    let column = root_index(root, counted.discretiser.encoder.input())?;
                    Ok(Mixing::Root(counted.discretiser.attribute(column)))
                })
                .collect::<Result<_>>()?,
            Rule::Frequent(threshold) | Rule::FrequentPairs(threshold) if threshold.is_nan() => {
                return Err(Error::param("threshold", "a number", threshold));
            }
            Rule::Frequent(threshold) => vec![Mixing::Frequent(*threshold)],
            Rule::FrequentPairs(threshold) => vec![Mixing::FrequentPairs(*threshold)],
            Rule::Evidence => vec![Mixing::Joint(counted.evidence_weights(&mut notes))],
            Rule::Posterior(_) => vec![Mixing::Posterior(counted.equal_weights())],
            Rule::Joint(_) => vec![Mixing::Joint(counted.equal_weights())],
        };
        let model = |mixing| FittedOneDependence::new(counted.clone(), mixing, notes.clone());
        Ok(mixings.into_iter().map(model).collect())
    }
}

impl Counted {
    /// What the user should know.
    pub(super) fn notes(&self) -> Vec<String> {
        let (used, all) = (self.tables.layout().attributes(), self.discretiser.encoder.width());
        let some = format!("{used} of {all} columns are used: those that tell most of the class");
        if used < all { vec![some] } else { Vec::new() }
    }

    pub(super) fn new(discretiser: Discretiser, counts: Counts, triples: Option<Triples>) -> Self {
        let triples = triples.map(|triples| Arc::new(TripleTables::new(triples, &counts)));
        Self { discretiser, tables: Arc::new(Tables::new(counts)), triples }
    }
}

fn root_index(root: &str, input: &Schema) -> Result<usize> {
    let mut names = input.fields().iter().map(|field| field.name.as_str());
    let found = names.position(|name| name == root);
    found.ok_or_else(|| Error::param("root", "an input column", root))
}

impl Learner<Classification> for OneDependence {
    fn members(&self) -> Vec<String> {
        self.names.clone()
    }

    fn fit(
        &self,
        sample: &Sample<'_, Classification>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Classification>>>> {
        let models = self.fit_members(sample, run)?.into_iter();
        Ok(models.map(|model| Box::new(model) as Box<dyn Fitted<Classification>>).collect())
    }

    fn out_of_sample(
        &self,
        sample: &Sample<'_, Classification>,
        plan: &Plan,
        run: &Run,
    ) -> Result<Block> {
        self.shared_counts(sample, plan, run)
    }

    fn pass(&self, x: Rows<'_>, run: &Run) -> Option<Result<Box<dyn AnyPass<Classification>>>> {
        Some(OneDependencePass::new(self, x, run).map(<dyn AnyPass<Classification>>::of))
    }
}

impl Learner<Joint> for OneDependence {
    fn members(&self) -> Vec<String> {
        self.names.clone()
    }

    fn fit(&self, sample: &Sample<'_, Joint>, run: &Run) -> Result<Vec<Box<dyn Fitted<Joint>>>> {
        self.check_joint()?;
        let models = self.fit_members(sample, run)?.into_iter();
        Ok(models.map(|model| Box::new(model) as Box<dyn Fitted<Joint>>).collect())
    }

    fn out_of_sample(&self, sample: &Sample<'_, Joint>, plan: &Plan, run: &Run) -> Result<Block> {
        self.check_joint()?;
        self.shared_counts(sample, plan, run)
    }

    fn pass(&self, x: Rows<'_>, run: &Run) -> Option<Result<Box<dyn AnyPass<Joint>>>> {
        let joint = self.check_joint().and_then(|()| OneDependencePass::new(self, x, run));
        Some(joint.map(<dyn AnyPass<Joint>>::of))
    }
}
