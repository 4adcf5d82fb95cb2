//! The plans by name, with their parameters: for lists and documentation. They are read by [`PlanSpec::from_spec`].

use serde_json::Value;

use super::{Choice, Kind, Parameter, Parameters};
use crate::plan::{
    Bootstrap, Given, Grouped, Hashed, HoldOut, KFold, LeaveOneOut, PlanSpec, Repeated, Stratified,
    StratifiedGrouped, Subsample, TimeOrdered, request,
};
use crate::spec::Spec;

/// A plan that can be named.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanEntry {
    /// The name in specs.
    pub kind: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Its parameters, with their defaults and meaning, by the names that specs have for them.
    pub parameters: Vec<Parameter>,
    /// A spec to begin with.
    pub example: &'static str,
}

/// All plans, in the order they are shown.
pub fn plans() -> Vec<PlanEntry> {
    let mut plans = vec![
        plan::<KFold>("k-fold", "folds of equal size", "k-fold(folds=10)"),
        plan::<Hashed>(
            "hashed",
            "folds drawn by the rows' numbers, or groups, alone; tables read block by block take them",
            "hashed(folds=10)",
        ),
        plan::<Stratified>(
            "stratified",
            "folds in which every class has its share",
            "stratified(folds=5)",
        ),
        plan::<Grouped>(
            "grouped",
            "folds that keep groups together",
            "grouped(column=patient, folds=5)",
        ),
        plan::<StratifiedGrouped>(
            "stratified-grouped",
            "folds that keep groups together and spread classes as far as possible",
            "stratified-grouped(column=patient, folds=5)",
        ),
        plan::<TimeOrdered>(
            "time-ordered",
            "blocks of time, predicted from what was before them; `time` for short",
            "time(column=when, folds=5, gap=7)",
        ),
        plan::<LeaveOneOut>("leave-one-out", "one row at a time", "leave-one-out"),
        plan::<HoldOut>("hold-out", "one random draw", "hold-out(test=0.3)"),
        plan::<Subsample>(
            "subsample",
            "random draws without replacement; the rows left out are predicted",
            "subsample(train=0.7, repeats=25)",
        ),
        plan::<Bootstrap>(
            "bootstrap",
            "random draws with replacement; the rows not drawn are predicted",
            "bootstrap(repeats=20)",
        ),
        plan::<Given>("given", "folds that a column of the table names", "given(column=fold)"),
    ];
    plans.push(repeated(&plans));
    plans
}

fn plan<P: Parameters>(
    kind: &'static str,
    about: &'static str,
    example: &'static str,
) -> PlanEntry {
    let mut parameters = Parameter::of::<P>();
    for parameter in &mut parameters {
        parameter.name = request::usual_name(kind, &parameter.name).into();
    }
    if let Some((what, is_needed)) = request::column_of(kind) {
        let about = format!("The column with the rows' {what}.");
        let column = Parameter::new("column", &about, Kind::Text);
        parameters.insert(0, if is_needed { column } else { column.or(Value::Null) });
    }
    PlanEntry { kind, about, parameters, example }
}

/// Any of the plans that draw at random, several times.
fn repeated(plans: &[PlanEntry]) -> PlanEntry {
    let about = "a plan that draws at random, several times with other draws";
    let example = "repeated(of=stratified(folds=5), repeats=3)";
    let mut entry = plan::<Repeated>("repeated", about, example);
    let draws = |plan: &&PlanEntry| {
        let request = PlanSpec::from_spec(&Spec::new(plan.kind));
        request.is_ok_and(|request| request.spec.draws_at_random())
    };
    let choice = |plan: &PlanEntry| Choice { name: plan.kind.into(), about: plan.about.into() };
    let choices: Vec<Choice> = plans.iter().filter(draws).map(choice).collect();
    if let Some(of) = entry.parameters.iter_mut().find(|parameter| parameter.name == "of") {
        (of.kind, of.range) = (Kind::OneOf(choices), None);
        of.default = PlanSpec::default().kind().into();
    }
    entry
}
