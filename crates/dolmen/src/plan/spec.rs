//! The choice of a scheme, as it stands in a file or on the command line, and what it may ask about the rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Bootstrap, Given, Grouped, Hashed, HoldOut, KFold, LeaveOneOut, MOST_REPEATS, Plan, RowKeys,
    Stratified, StratifiedGrouped, Subsample, TimeOrdered, check_repeats, stream,
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
    /// Folds drawn by the rows' numbers, or groups, alone.
    Hashed(Hashed),
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
    /// Folds that the rows bring with them.
    Given(Given),
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

impl PlanSpec {
    /// The scheme of `folds` splits that suits what is known of the rows: in order of time if they have times, else
    /// folds that keep their groups together and spread their classes, as far as they have any.
    pub fn suited(folds: usize, keys: &RowKeys<'_>) -> Self {
        match (keys.times, keys.groups, keys.classes) {
            (Some(_), _, _) => {
                let gap = keys.gap;
                Self::TimeOrdered(TimeOrdered { splits: folds, gap, ..TimeOrdered::default() })
            }
            (None, Some(_), Some(_)) => Self::StratifiedGrouped(StratifiedGrouped { folds }),
            (None, Some(_), None) => Self::Grouped(Grouped { folds }),
            (None, None, Some(_)) => Self::Stratified(Stratified { folds }),
            (None, None, None) => Self::KFold(KFold { folds, ..KFold::default() }),
        }
    }

    /// Moments that it leaves out before what it holds out.
    pub fn gap(&self) -> usize {
        match self {
            Self::TimeOrdered(scheme) => scheme.gap,
            Self::Repeated(scheme) => scheme.of.gap(),
            _ => 0,
        }
    }

    /// As many of the wanted folds as the rows allow, or their groups if they have any; fewer than 2 are none. Of rows with
    /// times, the blocks that can be held out: one less than there are distinct times.
    pub fn possible_folds(wanted: usize, rows: usize, keys: &RowKeys<'_>) -> usize {
        wanted.min(keys.most_folds(rows))
    }

    /// The plan for so many rows. The same seed gives the same plan.
    pub fn build(&self, rows: usize, keys: &RowKeys<'_>, run: &Run) -> Result<Plan> {
        keys.check(rows)?;
        if keys.groups.is_some() && !self.keeps_groups() {
            let kind = self.kind();
            let problem = format!("the plan '{kind}' would put a group on both sides of a split");
            let cure = "use the plan 'grouped', 'stratified-grouped', 'hashed' or 'time', or give no groups";
            return Err(Error::data(Place::default(), problem).with_hint(cure));
        }
        match self {
            Self::KFold(scheme) => scheme.plan(rows, run),
            Self::Stratified(scheme) => Plan::stratified(keys.classes()?, scheme.folds, run),
            Self::Grouped(scheme) => Plan::grouped(keys.groups()?, scheme.folds, run),
            Self::StratifiedGrouped(scheme) => {
                Plan::stratified_grouped(keys.classes()?, keys.groups()?, scheme.folds, run)
            }
            Self::Hashed(scheme) => scheme.plan(rows, keys, run),
            Self::LeaveOneOut(LeaveOneOut {}) => Plan::leave_one_out(rows),
            Self::Repeated(scheme) => scheme.plan(rows, keys, run),
            Self::TimeOrdered(scheme) => {
                let plan = match keys.times {
                    Some(times) => Plan::time_ordered(times, *scheme),
                    None => scheme.plan_in_order(rows),
                }?;
                match keys.groups {
                    Some(groups) => plan.without_shared_groups(groups),
                    None => Ok(plan),
                }
            }
            Self::HoldOut(scheme) => scheme.plan(rows, keys.strata(scheme.stratify)?, run),
            Self::Subsample(scheme) => scheme.plan(rows, keys.strata(scheme.stratify)?, run),
            Self::Bootstrap(scheme) => Plan::bootstrap(rows, scheme.repeats, run),
            Self::Given(Given {}) => Plan::given(keys),
        }
    }

    /// The scheme's name, as `kind` says it in a file.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::KFold(_) => "k-fold",
            Self::Stratified(_) => "stratified",
            Self::Grouped(_) => "grouped",
            Self::StratifiedGrouped(_) => "stratified-grouped",
            Self::Hashed(_) => "hashed",
            Self::LeaveOneOut(_) => "leave-one-out",
            Self::Repeated(_) => "repeated",
            Self::TimeOrdered(_) => "time-ordered",
            Self::HoldOut(_) => "hold-out",
            Self::Subsample(_) => "subsample",
            Self::Bootstrap(_) => "bootstrap",
            Self::Given(_) => "given",
        }
    }

    fn keeps_groups(&self) -> bool {
        match self {
            // A time-ordered plan learns from no row of a group that it predicts; given folds are looked at.
            Self::Grouped(_)
            | Self::StratifiedGrouped(_)
            | Self::Hashed(_)
            | Self::TimeOrdered(_)
            | Self::Given(_) => true,
            Self::Repeated(scheme) => scheme.of.keeps_groups(),
            _ => false,
        }
    }

    pub(crate) fn draws_at_random(&self) -> bool {
        match self {
            Self::KFold(scheme) => scheme.shuffle,
            Self::LeaveOneOut(_) | Self::TimeOrdered(_) | Self::Given(_) => false,
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
        Ok(Plan::of(rows, splits))
    }
}
