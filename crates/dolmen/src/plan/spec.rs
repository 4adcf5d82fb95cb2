//! The choice of a scheme, as it stands in a file or on the command line, and what it may ask about the rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Bootstrap, Grouped, HoldOut, KFold, LeaveOneOut, MOST_REPEATS, Plan, Stratified,
    StratifiedGrouped, Subsample, TimeOrdered, check_repeats, stream,
};
use crate::error::{Error, Place, Result};
use crate::run::Run;

/// A scheme with its parameters. In a file, `kind` names the scheme: `{ kind = "stratified", folds = 5 }`.
///
/// ```
/// use dolmen::run::Run;
/// use dolmen::plan::{PlanSpec, RowKeys};
///
/// let spec: PlanSpec = serde_json::from_str(r#"{ "kind": "stratified", "folds": 2 }"#)?;
/// let keys = RowKeys { classes: Some(&[0, 0, 1, 1]), ..RowKeys::default() };
/// let plan = spec.build(4, &keys, &Run::with_threads(0, 1)?)?;
/// assert_eq!(plan.splits().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PlanSpec {
    /// Folds of equal size.
    KFold(KFold),
    /// Folds in which every class has its share.
    Stratified(Stratified),
    /// Folds that keep groups together.
    Grouped(Grouped),
    /// Folds that keep groups together and give every class its share as far as possible.
    StratifiedGrouped(StratifiedGrouped),
    /// One row at a time.
    LeaveOneOut(LeaveOneOut),
    /// A random scheme several times.
    Repeated(Repeated),
    /// Blocks of time.
    TimeOrdered(TimeOrdered),
    /// One random draw.
    HoldOut(HoldOut),
    /// Random draws without replacement.
    Subsample(Subsample),
    /// Random draws with replacement.
    Bootstrap(Bootstrap),
}

impl Default for PlanSpec {
    fn default() -> Self {
        Self::KFold(KFold::default())
    }
}

/// A scheme that draws at random, several times with other draws; ten times ten folds if nothing else is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Repeated {
    /// How often. The first draws are the same however many follow.
    #[schemars(range(min = 1, max = MOST_REPEATS))]
    pub repeats: usize,
    /// The scheme.
    pub of: Box<PlanSpec>,
}

impl Default for Repeated {
    fn default() -> Self {
        Self { repeats: 10, of: Box::default() }
    }
}

/// What is known of the rows besides their number; a scheme takes what it needs.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowKeys<'a> {
    /// Each row's class, or any other stratum.
    pub classes: Option<&'a [u32]>,
    /// Each row's group. A scheme that would tear groups apart refuses them.
    pub groups: Option<&'a [u32]>,
    /// Each row's time; only the order counts.
    pub times: Option<&'a [f64]>,
}

impl PlanSpec {
    /// The scheme of `folds` splits that suits what is known of the rows: in order of time if they have times, else
    /// folds that keep their groups together and spread their classes, as far as they have any.
    pub fn suited(folds: usize, keys: &RowKeys<'_>) -> Self {
        match (keys.times, keys.groups, keys.classes) {
            (Some(_), _, _) => {
                Self::TimeOrdered(TimeOrdered { splits: folds, ..TimeOrdered::default() })
            }
            (None, Some(_), Some(_)) => Self::StratifiedGrouped(StratifiedGrouped { folds }),
            (None, Some(_), None) => Self::Grouped(Grouped { folds }),
            (None, None, Some(_)) => Self::Stratified(Stratified { folds }),
            (None, None, None) => Self::KFold(KFold { folds, ..KFold::default() }),
        }
    }

    /// As many of the wanted folds as the rows allow, or their groups if they have any; fewer than 2 are none.
    pub fn possible_folds(wanted: usize, rows: usize, keys: &RowKeys<'_>) -> usize {
        let groups = |groups: &[u32]| groups.iter().collect::<std::collections::HashSet<_>>().len();
        wanted.min(keys.groups.map_or(rows, groups))
    }

    /// The plan for so many rows. The same seed gives the same plan.
    pub fn build(&self, rows: usize, keys: &RowKeys<'_>, run: &Run) -> Result<Plan> {
        keys.check(rows)?;
        if keys.groups.is_some() && !self.keeps_groups() {
            let kind = self.kind();
            let problem = format!("the plan '{kind}' would put a group on both sides of a split");
            let cure = "use the plan 'grouped' or 'stratified-grouped', or give no groups";
            return Err(Error::data(Place::default(), problem).with_hint(cure));
        }
        match self {
            Self::KFold(scheme) => scheme.plan(rows, run),
            Self::Stratified(scheme) => Plan::stratified(keys.classes()?, scheme.folds, run),
            Self::Grouped(scheme) => Plan::grouped(keys.groups()?, scheme.folds, run),
            Self::StratifiedGrouped(scheme) => {
                Plan::stratified_grouped(keys.classes()?, keys.groups()?, scheme.folds, run)
            }
            Self::LeaveOneOut(LeaveOneOut {}) => Plan::leave_one_out(rows),
            Self::Repeated(scheme) => scheme.plan(rows, keys, run),
            Self::TimeOrdered(scheme) => match keys.times {
                Some(times) => Plan::time_ordered(times, *scheme),
                None => scheme.plan_in_order(rows),
            },
            Self::HoldOut(scheme) => scheme.plan(rows, keys.strata(scheme.stratify)?, run),
            Self::Subsample(scheme) => scheme.plan(rows, keys.strata(scheme.stratify)?, run),
            Self::Bootstrap(scheme) => Plan::bootstrap(rows, scheme.repeats, run),
        }
    }

    /// The scheme's name, as `kind` says it in a file.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::KFold(_) => "k-fold",
            Self::Stratified(_) => "stratified",
            Self::Grouped(_) => "grouped",
            Self::StratifiedGrouped(_) => "stratified-grouped",
            Self::LeaveOneOut(_) => "leave-one-out",
            Self::Repeated(_) => "repeated",
            Self::TimeOrdered(_) => "time-ordered",
            Self::HoldOut(_) => "hold-out",
            Self::Subsample(_) => "subsample",
            Self::Bootstrap(_) => "bootstrap",
        }
    }

    fn keeps_groups(&self) -> bool {
        match self {
            Self::Grouped(_) | Self::StratifiedGrouped(_) => true,
            Self::Repeated(scheme) => scheme.of.keeps_groups(),
            _ => false,
        }
    }

    fn draws_at_random(&self) -> bool {
        match self {
            Self::KFold(scheme) => scheme.shuffle,
            Self::LeaveOneOut(_) | Self::TimeOrdered(_) => false,
            Self::Repeated(scheme) => scheme.of.draws_at_random(),
            _ => true,
        }
    }
}

impl Plan {
    /// A scheme that draws at random, `repeats` times, its splits one after another.
    pub fn repeated(
        scheme: PlanSpec,
        repeats: usize,
        rows: usize,
        keys: &RowKeys<'_>,
        run: &Run,
    ) -> Result<Self> {
        PlanSpec::Repeated(Repeated { repeats, of: Box::new(scheme) }).build(rows, keys, run)
    }
}

impl Repeated {
    fn plan(&self, rows: usize, keys: &RowKeys<'_>, run: &Run) -> Result<Plan> {
        check_repeats(self.repeats)?;
        if !self.of.draws_at_random() {
            let expected = "a plan that draws at random, such as k-fold with shuffle";
            return Err(Error::param("of", expected, self.of.kind()));
        }
        let streams = stream(run);
        let mut splits = Vec::new();
        for repeat in 0..self.repeats as u64 {
            run.check()?;
            splits.extend(self.of.build(rows, keys, &streams.child(repeat))?.splits);
        }
        Ok(Plan { rows, splits })
    }
}

impl<'a> RowKeys<'a> {
    fn check(&self, rows: usize) -> Result<()> {
        let lengths = [
            ("classes of the rows", self.classes.map(<[u32]>::len)),
            ("groups of the rows", self.groups.map(<[u32]>::len)),
            ("times of the rows", self.times.map(<[f64]>::len)),
        ];
        for (what, length) in lengths {
            if let Some(length) = length.filter(|&length| length != rows) {
                return Err(Error::shape(what, rows, length));
            }
        }
        Ok(())
    }

    fn classes(&self) -> Result<&'a [u32]> {
        self.classes.ok_or_else(|| {
            let error = Error::data(Place::default(), "a stratified plan needs the rows' classes");
            error.with_hint("choose a plan that is not stratified, or a target of classes")
        })
    }

    fn groups(&self) -> Result<&'a [u32]> {
        self.groups.ok_or_else(|| {
            let error = Error::data(Place::default(), "a grouped plan needs the rows' groups");
            error.with_hint("name the column of groups, or choose a plan that is not grouped")
        })
    }

    /// The classes if they are asked for.
    fn strata(&self, stratify: bool) -> Result<Option<&'a [u32]>> {
        stratify.then(|| self.classes()).transpose()
    }
}
