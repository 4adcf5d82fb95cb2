//! The way from data to a model: members, folds, combiners and check as the recipe asks for them, or as usual.

use std::sync::Arc;
use std::time::Instant;

use super::explain::Explained;
use super::model::Anywhere;
use super::stream::Judged;
use super::tasks::Doer;
use super::{
    CheckPolicy, Data, Effort, Evidence, FitReport, Matrix, Model, Recipe, SampleReport,
    TargetTask, Truth,
};
use crate::catalogue::{Catalogue, Catalogued};
use crate::combine::Combiner;
use crate::ensemble::{Check, Ending, Ensemble, Failures, IntervalKind, Stack};
use crate::error::{Error, Place, Result};
use crate::learner::{Learner, Sample};
use crate::oos::{OnFailure, OutOfSample};
use crate::plan::{Plan, PlanRequest, PlanSpec, RowKeys};
use crate::run::Run;
use crate::solver::Solution;
use crate::spec::Spec;
use crate::table::{Rows, Table};
use crate::target::Target;
use crate::task::{Classification, Density, Joint, Regression, Task};

/// Rows from which it is: two folds held out of fewer leave next to nothing to learn from.
const FEWEST_NESTED_ROWS: usize = 15;
/// Folds up to which a stack is checked on rows held out from its members too, unless that is asked for: it takes a fit for each
/// pair of them.
const MOST_NESTED_FOLDS: usize = 20;

/// What comes of a recipe.
#[derive(Debug)]
pub struct Fit {
    /// The model, which carries recipe and report.
    pub model: Model,
    /// What there is to say about it.
    pub report: FitReport,
    /// What every member said about rows it had not seen; `None` without folds.
    pub matrix: Option<Matrix>,
}

/// A stack as it was fitted, with what its report needs.
pub(super) struct Stacked<T: Task> {
    pub(super) ensemble: Ensemble<T>,
    /// The splits of the out-of-sample matrix; `None` without one.
    pub(super) plan: Option<Plan>,
    /// Folds of the out-of-sample matrix; 0 without one.
    pub(super) folds: usize,
    /// The first of the combiners asked for.
    pub(super) combiner: String,
    /// Of members as they are: those that could not be fitted.
    pub(super) failures: Failures,
    /// What the user should know of how it was made.
    pub(super) notes: Vec<String>,
    /// Weights found from more rows than the matrix has, and how they do on these.
    pub(super) of_all: Option<(Solution, Judged)>,
    /// What comes from a sample of the rows.
    pub(super) sampled: Option<SampleReport>,
}

impl Recipe {
    /// Fits a model to a table: the whole way. The table is copied; a program that has no other use for it gives it to
    /// [`Recipe::data`] and calls [`Recipe::fit_data`].
    pub fn fit(&self, table: &Table, run: &Run) -> Result<Fit> {
        self.fit_data(&self.data(table.clone())?, run)
    }

    /// The same for a table that was taken apart already.
    pub fn fit_data(&self, data: &Data, run: &Run) -> Result<Fit> {
        self.fit_with(Catalogue::standard(), data, None, run)
    }

    /// The same with a program's own learners and combiners, and with columns of an earlier matrix of the same data and plan:
    /// only members that are new to it are fitted on the folds.
    pub fn fit_with(
        &self,
        catalogue: &Catalogue,
        data: &Data,
        earlier: Option<Matrix>,
        run: &Run,
    ) -> Result<Fit> {
        self.fit_by(catalogue, data, earlier, None, run)
    }

    /// The same, with somebody who does the members' fits.
    pub(super) fn fit_by(
        &self,
        catalogue: &Catalogue,
        data: &Data,
        earlier: Option<Matrix>,
        doer: Option<Arc<dyn Doer>>,
        run: &Run,
    ) -> Result<Fit> {
        let run = &run.seeded(self.seed);
        self.check_alone()?;
        match &data.truth {
            Truth::None => self.fit_task::<Density>(catalogue, data, &(), earlier, doer, run),
            Truth::Classes(labels) if self.task == Some(TargetTask::Joint) => {
                self.fit_task::<Joint>(catalogue, data, labels, earlier, doer, run)
            }
            Truth::Classes(labels) => {
                self.fit_task::<Classification>(catalogue, data, labels, earlier, doer, run)
            }
            Truth::Numbers(values) => {
                self.fit_task::<Regression>(catalogue, data, values, earlier, doer, run)
            }
        }
    }

    fn fit_task<T: Anywhere>(
        &self,
        catalogue: &Catalogue,
        data: &Data,
        target: &T::Target,
        earlier: Option<Matrix>,
        doer: Option<Arc<dyn Doer>>,
        run: &Run,
    ) -> Result<Fit> {
        let sample = data.sample::<T>(target)?;
        let earlier = earlier.map(T::from_matrix).transpose()?;
        let with_earlier = match &earlier {
            Some(matrix) => self.with_members_of(matrix, catalogue, &sample)?,
            None => self.clone(),
        };
        let stacked = with_earlier.stack(catalogue, &sample, earlier, doer, run)?;
        with_earlier.finish(catalogue, data, (&sample, sample.rows()), stacked, run)
    }

    /// What comes of a stack: the model with its report and its evidence. The sample may be a part of so many rows.
    pub(super) fn finish<T: Anywhere>(
        &self,
        catalogue: &Catalogue,
        data: &Data,
        (sample, rows): (&Sample<'_, T>, usize),
        mut stacked: Stacked<T>,
        run: &Run,
    ) -> Result<Fit> {
        let mut report = FitReport::new(&stacked, rows, run)?;
        report.add_notes(data.notes.iter().chain(&stacked.notes));
        if let Some((solution, judged)) = &stacked.of_all {
            report.take(solution, judged);
        } else if sample.rows() < rows {
            report.tell_all(rows);
        }
        let mut evidence = Evidence::of_fit(&stacked.ensemble, sample, run)?;
        if let (Some(plan), true) = (&stacked.plan, self.explain) {
            let learners = self.learners(catalogue, sample)?;
            let conventions = &data.conventions;
            let explained = Explained { ensemble: &stacked.ensemble, sample: *sample, conventions };
            explained.add_to(&mut evidence, &learners, plan, run)?;
        }
        let matrix = stacked.ensemble.take_matrix().map(T::into_matrix);
        let model = Model::new(
            self,
            data,
            sample.target().classes().to_vec(),
            T::into_model(stacked.ensemble),
            (report.clone(), Some(evidence)),
            if self.keep_matrix { matrix.clone() } else { None },
        );
        Ok(Fit { model, report, matrix })
    }

    /// The same recipe with the members of an earlier matrix before those that are named, or before the usual ones where none
    /// is; their names are their specs. Of what is named all of whose members are there nothing is left to add; a ladder
    /// that is there in part stays whole.
    fn with_members_of<T: Catalogued>(
        &self,
        matrix: &OutOfSample<T>,
        catalogue: &Catalogue,
        sample: &Sample<'_, T>,
    ) -> Result<Self> {
        let is_usual = self.members.is_empty();
        let x = sample.x();
        let named = if is_usual {
            T::members_for(self.effort, x, sample.target())
        } else {
            self.members.clone()
        };
        let mut known: Vec<&String> = matrix.members().iter().collect();
        let mut new: Vec<Spec> = Vec::new();
        let mut others = matrix.members().len();
        for own in &named {
            let names = catalogue.learner_for::<T>(own, x.schema())?.members();
            others -= names.iter().filter(|name| matrix.members().contains(name)).count();
            if !names.iter().all(|name| matrix.members().contains(name)) {
                known.retain(|name| !names.contains(name));
                new.push(own.clone());
            }
        }
        // Where the matrix holds nothing else, the recipe is what it was.
        if is_usual && others == 0 {
            return Ok(self.clone());
        }
        let known = known.into_iter().map(|name| Spec::parse(name));
        let members = known.chain(new.into_iter().map(Ok)).collect::<Result<_>>()?;
        Ok(Self { members, drop_failed: self.drop_failed || is_usual, ..self.clone() })
    }

    /// The stack of this recipe on a sample: what `fit` keeps, `compare` judges and the demo shows.
    pub(super) fn stack<T: Catalogued>(
        &self,
        catalogue: &Catalogue,
        sample: &Sample<'_, T>,
        earlier: Option<OutOfSample<T>>,
        doer: Option<Arc<dyn Doer>>,
        run: &Run,
    ) -> Result<Stacked<T>> {
        let begun = Instant::now();
        let mut notes = T::remarks(sample.x());
        let plan = match self.plan_for(sample, &mut notes, run)? {
            Some(plan) if !self.alone => plan,
            _ => return self.without_folds(catalogue, sample, notes, run),
        };
        if self.check == CheckPolicy::Nested && !plan.is_partition() {
            notes.push(unnested(&plan).into());
        }
        let folds = plan.splits().len();
        let specs = self.combiner_specs::<T>(sample.x());
        let combiners: Vec<Box<dyn Combiner<T>>> = match self.limited_combiner()? {
            Some(limited) => vec![Box::new(limited)],
            None => specs.iter().map(|spec| catalogue.combiner(spec)).collect::<Result<_>>()?,
        };
        let mut learners = self.learners(catalogue, sample)?;
        if let Some(doer) = doer {
            learners = super::tasks::sent(learners, sample.rows(), &doer, catalogue.registry());
        }
        let members = learners.iter().map(|learner| learner.members().len()).sum();
        super::report::plan_report(sample.rows(), members, run);
        let stack = self.configured(Stack::choosing(combiners), sample.rows(), &plan);
        let stack = self.timed(stack.members(learners), begun);
        let stack = match earlier {
            Some(matrix) => stack.reusing(matrix),
            None => stack,
        };
        let ensemble = match stack.fit_on(sample, &plan, &run.stream("stack")) {
            Err(Error::Cancelled) if self.budget.is_some() && run.check().is_ok() => {
                return Self::out_of_time(catalogue, sample, &plan, notes, run);
            }
            fitted => fitted?,
        };
        let is_wanted = self.check != CheckPolicy::None && members > 1;
        if is_wanted && ensemble.assessment().is_none() {
            notes.push(unchecked(&sample.keys()).into());
        }
        let intervals = ensemble.interval_report().map(|report| report.kind);
        if self.intervals == IntervalKind::Local && intervals == Some(IntervalKind::Constant) {
            notes.push(
                "too few rows to learn how wide intervals should be where: their width is constant"
                    .into(),
            );
        }
        let combiner = specs[0].kind.clone();
        let (plan, failures) = (Some(plan), Vec::new());
        Ok(Stacked {
            ensemble,
            plan,
            folds,
            combiner,
            failures,
            notes,
            of_all: None,
            sampled: None,
        })
    }

    /// The plan asked for, or the usual one; `None` where rows are too few to hold any out.
    pub(super) fn plan_for<T: Catalogued>(
        &self,
        sample: &Sample<'_, T>,
        notes: &mut Vec<String>,
        run: &Run,
    ) -> Result<Option<Plan>> {
        let (keys, rows) = (sample.keys(), sample.rows());
        let run = &run.stream("plan");
        if let Some(request) = self.plan_request()?.filter(|_| !self.alone) {
            if sample.times().is_some() && !matches!(request.spec, PlanSpec::TimeOrdered(_)) {
                let expected = "one in order of time, as the rows have times";
                let got = self.plan.as_ref().map(Spec::to_string).unwrap_or_default();
                let hint = "write --plan 'time(folds=5)', or leave out the column of times";
                return Err(Error::param("plan", expected, got).with_hint(hint));
            }
            return built(&request, rows, &keys, notes, run).map(Some);
        }
        let usual = self.usual_folds::<T>();
        let possible = PlanSpec::possible_folds(usual, rows, &keys);
        let folds = self.folds.unwrap_or(possible);
        if self.alone || self.folds.is_none() && folds < 2 {
            if !self.alone && rows < 2 {
                let problem = "there is only 1 row: nothing can be learned from it";
                return Err(Error::data(Place::default(), problem));
            }
            if !self.alone {
                let note =
                    "too few rows or groups for folds: the members weigh alike and are not checked";
                notes.push(note.into());
            }
            return Ok(None);
        }
        if folds < usual && self.folds.is_none() {
            notes.push(format!("too few rows or groups for {usual} folds: there are {folds}"));
        }
        let request = PlanRequest::of(PlanSpec::suited(folds, &keys));
        let plan = built(&request, rows, &keys, notes, run);
        let without =
            "--alone fits one member as it is, without folds; --check none leaves out the check";
        plan.map(Some).map_err(|e| if folds < 2 { e.with_hint(without) } else { e })
    }

    /// Refuses what a member as it is cannot have.
    pub(super) fn check_alone(&self) -> Result<()> {
        let contradicting = [
            ("combiners", !self.combiners.is_empty()),
            ("a plan", self.plan.is_some()),
            ("folds", self.folds.is_some()),
            ("a check", self.check != CheckPolicy::Auto),
            ("an ending", self.ending != Ending::Refit),
            ("calibration", self.calibration.is_some()),
            ("local intervals", self.intervals != IntervalKind::Constant),
            ("a margin", self.margin.is_some()),
            ("a reach", self.reach.is_some()),
            ("a doubt", self.doubt.is_some()),
            ("a matrix to keep", self.keep_matrix),
            ("an effort", !self.effort.is_usual()),
            ("a budget", self.budget.is_some()),
            ("a limit", self.max_members.is_some() || self.predict_under.is_some()),
        ];
        match contradicting.into_iter().find(|(_, is_asked_for)| *is_asked_for && self.alone) {
            None => Ok(()),
            Some((what, _)) => {
                let got = format!("given with {what}");
                let hint = "one member as it is has no rows held out: leave out one of both";
                Err(Error::param("alone", "given by itself", got).with_hint(hint))
            }
        }
    }

    /// The members as they are: no folds, no combiner.
    fn without_folds<T: Catalogued>(
        &self,
        catalogue: &Catalogue,
        sample: &Sample<'_, T>,
        notes: Vec<String>,
        run: &Run,
    ) -> Result<Stacked<T>> {
        let learners = self.learners(catalogue, sample)?;
        let count: usize = learners.iter().map(|learner| learner.members().len()).sum();
        if self.alone && count != 1 {
            let got = format!("with {count}");
            return Err(Error::param("alone", "given with exactly one member", got));
        }
        // The combiner is not asked: equal weights need none.
        let stack = Stack::choosing(Vec::new()).on_failure(self.on_failure()).members(learners);
        let stack = self.limited(stack, sample.rows());
        let (ensemble, failures) = stack.fit_without_folds(sample, &run.stream("stack"))?;
        let (plan, folds, combiner) = (None, 0, String::new());
        Ok(Stacked {
            ensemble,
            plan,
            folds,
            combiner,
            failures,
            notes,
            of_all: None,
            sampled: None,
        })
    }

    /// The combiners named, or the usual ones.
    pub(super) fn combiner_specs<T: Catalogued>(&self, x: Rows<'_>) -> Vec<Spec> {
        match &self.combiners[..] {
            [] => T::combiners_for(self.effort, x),
            named => named.to_vec(),
        }
    }

    /// The learners named, or the usual ones for a table of this size. No two members share a name: weights and reports go
    /// by it.
    pub(super) fn learners<T: Catalogued>(
        &self,
        catalogue: &Catalogue,
        sample: &Sample<'_, T>,
    ) -> Result<Vec<Box<dyn Learner<T>>>> {
        let usual = match &self.members[..] {
            [] => T::members_for(self.effort, sample.x(), sample.target()),
            _ => Vec::new(),
        };
        let specs = self.members.iter().chain(&usual);
        let learner = |spec: &Spec| catalogue.learner_for(spec, sample.x().schema());
        let learners = specs.map(learner).collect::<Result<Vec<_>>>()?;
        unique_names(&learners)?;
        Ok(learners)
    }

    /// A stack with everything but its members.
    pub(super) fn configured<T: Task>(
        &self,
        stack: Stack<T>,
        rows: usize,
        plan: &Plan,
    ) -> Stack<T> {
        let few = T::HAS_TARGET
            && (FEWEST_NESTED_ROWS..=self.most_nested_rows()).contains(&rows)
            && (3..=MOST_NESTED_FOLDS).contains(&plan.splits().len())
            && plan.is_partition();
        let check = match self.check {
            CheckPolicy::Auto if few && self.effort != Effort::Quick => Check::Nested,
            CheckPolicy::Auto | CheckPolicy::Matrix => Check::Matrix,
            CheckPolicy::Nested => Check::Nested,
            CheckPolicy::None => Check::AsNeeded,
        };
        let stack = stack
            .on_failure(self.on_failure())
            .check(check)
            .ending(self.ending)
            .intervals(self.intervals)
            .keep_all(self.keep_all)
            .replaced_if_not_better(!self.keep_stack && check != Check::AsNeeded);
        let stack = self.limited(self.within_limits(stack), rows);
        match self.calibration {
            None => stack,
            Some(calibration) => stack.calibrated(calibration),
        }
    }

    /// A stack that keeps to limits, those asked for or the usual ones: members that the user has named are his to judge.
    fn limited<T: Task>(&self, mut stack: Stack<T>, rows: usize) -> Stack<T> {
        /// The power of the number of rows that is the share of doubt: chosen on half of the tables (bench/RESULTS.md, study, doubt).
        const DOUBT: f64 = -1.5;
        const WIDTHS: f64 = 0.5;
        let usual = |suits: bool, value: f64| {
            (suits && T::HAS_TARGET && !T::LOG_SPACE && self.members.is_empty()).then_some(value)
        };
        if let Some(margin) = self.margin.or(usual(!T::CLASSES, WIDTHS)) {
            stack = stack.within_margin(margin);
        }
        if let Some(widths) = self.reach.or(usual(true, WIDTHS)) {
            stack = stack.within_reach(widths);
        }
        if let Some(share) = self.doubt.or(usual(T::CLASSES, (rows as f64).powf(DOUBT).min(0.5))) {
            stack = stack.doubting(share);
        }
        stack
    }

    /// The usual members may fail; those that the user has named stop the fit, unless he says otherwise.
    pub(super) fn on_failure(&self) -> OnFailure {
        let may_fail = self.drop_failed || self.members.is_empty();
        if may_fail { OnFailure::Drop } else { OnFailure::Stop }
    }
}

/// The plan, with a note on blocks of time that are not in it because their own groups are all that they could be predicted from.
fn built(
    request: &PlanRequest,
    rows: usize,
    keys: &RowKeys<'_>,
    notes: &mut Vec<String>,
    run: &Run,
) -> Result<Plan> {
    let plan = request.build(rows, keys, run)?;
    if matches!(request.spec, PlanSpec::TimeOrdered(_)) && keys.groups.is_some() {
        let whole = request.build(rows, &RowKeys { groups: None, ..*keys }, run)?;
        let (kept, all) = (plan.splits().len(), whole.splits().len());
        if kept < all {
            let rows = plan.never_held_out().len() - whole.never_held_out().len();
            notes.push(format!(
                "{} of the {all} blocks of time ({rows} rows) are left out: all that they could be predicted from is of their \
                 own groups",
                all - kept
            ));
        }
    }
    Ok(plan)
}

/// What to say where a nested check was asked for and the plan has no pairs of folds.
fn unnested(plan: &Plan) -> &'static str {
    if plan.is_forward() {
        "in order of time the check is made block after block, not nested: combiner and members have seen earlier rows only, \
         so that it is as honest"
    } else {
        "the plan is no partition of the rows into folds, so that the check is not nested: rows are held out from the combiner \
         alone"
    }
}

/// Why there is no check although one was wanted.
fn unchecked(keys: &RowKeys<'_>) -> &'static str {
    if keys.groups.is_some() && keys.times.is_some() {
        "the stack is not checked: every block of time has rows of the same groups as the earlier ones, so that without these \
         groups nothing is left to learn weights from"
    } else {
        "the stack is not checked: the plan leaves no rows to try the combiner on"
    }
}

fn unique_names<T: Task>(learners: &[Box<dyn Learner<T>>]) -> Result<()> {
    let names: Vec<String> = learners.iter().flat_map(|learner| learner.members()).collect();
    match names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        None => Ok(()),
        Some((_, name)) => {
            Err(Error::param("members", "different from one another", format!("twice '{name}'")))
        }
    }
}
