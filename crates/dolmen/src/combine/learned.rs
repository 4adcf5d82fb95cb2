//! Stacking by a learner: the members' predictions are the inputs of another model [Wolpert1992; Himmetoglu2019].
//!
//! With `ridge` or `logistic` this is the classical stacker, with a ladder of penalties one stacker per rung. Any learner
//! will do, and may see the rows' own inputs as well: with a stack in the place of the learner, layers feed layers.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::log_pool::centred_logarithms;
use super::{
    Combination, Combiner, Evidence, StoredCombination, check_member_count, check_members,
};
use crate::error::{Error, Place, Result};
use crate::learner::{Diagnostics, Fitted, Learner, Sample, Weights};
use crate::run::Run;
use crate::spec::Spec;
use crate::store::{Parameters, Record, Registry};
use crate::table::{Features, Field, Kind, Rows, Schema};
use crate::target::Target;
use crate::task::Task;

/// The scale on which a stacker sees class probabilities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// As they are.
    #[default]
    Probabilities,
    /// Their logarithms, centred: for two classes the logit.
    Logits,
}

/// How a learner sees the members' predictions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Seen {
    /// The scale on which it sees class probabilities.
    pub(crate) on: Scale,
    /// Whether it sees the rows' own inputs beside the members' predictions.
    pub(crate) inputs: bool,
}

/// The name of a combination by this member of a learner. `ridge` and `logistic` are combiners by themselves, which have a
/// ladder of penalties unless one is named; any other learner is `learner(of=..)`.
fn stacker(member: &str, seen: Seen) -> Spec {
    let Ok(own) = Spec::parse(member) else {
        return Spec::around("learner", &seen, "of", member);
    };
    if !["ridge", "logistic"].contains(&own.kind.as_str()) {
        return Spec::around("learner", &seen, "of", own);
    }
    let mut parameters = own.parameters;
    if !parameters.contains_key("lambda") {
        let rest = std::mem::take(&mut parameters);
        parameters.insert("lambda".into(), "auto".into());
        parameters.extend(rest);
    }
    parameters.extend(Spec::of(&own.kind, &seen).parameters);
    Spec { kind: own.kind, parameters }
}

/// Combines by a learner whose inputs are the members' predictions.
#[derive(Debug, Clone)]
pub struct Learned<T: Task> {
    learner: Arc<dyn Learner<T>>,
    scale: Scale,
    inputs: bool,
}

impl<T: Task> Learned<T> {
    /// A stacker that sees the members' predictions as they are.
    pub fn new(learner: impl Into<Arc<dyn Learner<T>>>) -> Self {
        Self { learner: learner.into(), scale: Scale::default(), inputs: false }
    }

    /// With class probabilities on another scale.
    #[must_use]
    pub fn on(mut self, scale: Scale) -> Self {
        self.scale = scale;
        self
    }

    /// With the rows' own inputs beside the members' predictions.
    #[must_use]
    pub fn with_inputs(mut self, inputs: bool) -> Self {
        self.inputs = inputs;
        self
    }
}

impl<T: Task> Combiner<T> for Learned<T> {
    fn rungs(&self) -> Vec<String> {
        let seen = Seen { on: self.scale, inputs: self.inputs };
        let name = |member: String| stacker(&member, seen).to_string();
        self.learner.members().into_iter().map(name).collect()
    }

    fn fit(&self, evidence: &Evidence<'_, T>, run: &Run) -> Result<Vec<Box<dyn Combination<T>>>> {
        let Evidence { oos, x, .. } = *evidence;
        if T::LOG_SPACE {
            let expected = "one with weights: a learner combines classes or numbers";
            return Err(Error::param("combiner", expected, format!("a learner of {}", T::NAME)));
        }
        let x = match (self.inputs, x) {
            (false, _) => None,
            (true, Some(x)) => Some(x),
            (true, None) => {
                let expected = "false, because predictions from elsewhere come without inputs";
                return Err(Error::param("inputs of the combiner", expected, true));
            }
        };
        let layout = Layout::new(oos.members(), oos.target().classes(), self.scale, x);
        let columns: Vec<&[f64]> = (0..oos.members().len()).map(|m| oos.column(m)).collect();
        let features = layout.features(&columns, oos.width(), x)?;
        let weights = oos.weights().map(|weights| Weights::new(weights.to_vec())).transpose()?;
        let mut sample = Sample::<T>::new(features.rows(), oos.target())?;
        if let Some(weights) = &weights {
            sample = sample.weighted(weights)?;
        }
        if let Some(groups) = oos.groups() {
            sample = sample.grouped(groups)?;
        }
        if let Some(times) = oos.times() {
            sample = sample.timed(times)?.spaced(oos.gap());
        }
        let models = self.learner.fit(&sample, run)?.into_iter();
        Ok(models
            .map(|model| {
                let layout = layout.clone();
                Box::new(LearnedCombination { layout, model }) as Box<dyn Combination<T>>
            })
            .collect())
    }
}

/// The inputs of a stacker: which columns it has and how they are made.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Layout {
    members: usize,
    scale: Scale,
    inputs: bool,
    schema: Arc<Schema>,
}

impl Layout {
    fn new(members: &[String], classes: &[String], scale: Scale, x: Option<Rows<'_>>) -> Self {
        // Of two classes one column says it all.
        let shown = if classes.len() == 2 { &classes[1..] } else { classes };
        let mut names: Vec<String> = Vec::new();
        for member in members {
            match shown {
                [] => names.push(member.clone()),
                shown => names.extend(shown.iter().map(|class| format!("{member}:{class}"))),
            }
        }
        let numeric = |name| Field { name, kind: Kind::Numeric };
        let mut fields: Vec<Field> = names.into_iter().map(numeric).collect();
        fields.extend(x.into_iter().flat_map(|x| x.schema().fields().iter().cloned()));
        let schema = Arc::new(Schema::new(fields));
        Self { members: members.len(), scale, inputs: x.is_some(), schema }
    }

    /// Refuses columns other than the members' predictions of so many values, and the inputs where they are seen.
    fn check(&self, inputs: &Schema, width: usize) -> Result<()> {
        let shown = if width == 2 { 1 } else { width };
        let own = if self.inputs { inputs.fields() } else { &[] };
        let fields = self.schema.fields();
        let expected = self.members * shown + own.len();
        if fields.len() != expected {
            return Err(Error::shape("stored columns of the stacker", expected, fields.len()));
        }
        let (predicted, seen) = fields.split_at(self.members * shown);
        if seen != own || predicted.iter().any(|field| field.kind != Kind::Numeric) {
            let problem = "the stored columns of the stacker are not those of the model";
            return Err(Error::data(Place::default(), problem));
        }
        Ok(())
    }

    /// The stacker's inputs of a block of rows.
    fn features(&self, members: &[&[f64]], width: usize, x: Option<Rows<'_>>) -> Result<Features> {
        check_members(self.members, members)?;
        let rows = members.first().map_or(0, |column| column.len() / width);
        let mut values = Vec::with_capacity(rows * self.schema.len());
        let mut scaled = vec![0.0; width];
        for i in 0..rows {
            for column in members {
                let row = &column[i * width..(i + 1) * width];
                match (width, self.scale) {
                    (1, _) => values.push(row[0]),
                    (2, Scale::Probabilities) => values.push(not_vanishing(row[1])),
                    (_, Scale::Probabilities) => {
                        values.extend(row.iter().map(|p| not_vanishing(*p)));
                    }
                    (_, Scale::Logits) => {
                        centred_logarithms(row, &mut scaled);
                        // Centred logarithms of two classes are half the logit, with either sign.
                        match scaled[..] {
                            [_, second] => values.push(2.0 * second),
                            _ => values.extend_from_slice(&scaled),
                        }
                    }
                }
            }
            values.extend(x.into_iter().flat_map(|x| x.row(i)));
        }
        Features::new(values, Arc::clone(&self.schema))
    }
}

/// A probability, or 0 for one so small that it could not be squared: to a stacker there is no difference.
fn not_vanishing(p: f64) -> f64 {
    if p < 1e-100 { 0.0 } else { p }
}

/// A fitted stacker.
#[derive(Debug)]
pub struct LearnedCombination<T: Task> {
    layout: Layout,
    model: Box<dyn Fitted<T>>,
}

#[derive(Serialize, Deserialize)]
struct Body {
    layout: Layout,
    model: Record,
}

impl<T: Task> LearnedCombination<T> {
    /// The model on the members' predictions.
    pub fn model(&self) -> &dyn Fitted<T> {
        self.model.as_ref()
    }
}

impl<T: Task> StoredCombination<T> for LearnedCombination<T> {
    const KIND: &'static str = "learned combination";
    const VERSION: u32 = 1;

    fn restore(record: &Record, registry: &Registry) -> Result<Self> {
        let Body { layout, model } = record.read()?;
        Ok(Self { layout, model: registry.model(&model)? })
    }
}

impl<T: Task> Combination<T> for LearnedCombination<T> {
    fn combine_into(
        &self,
        members: &[&[f64]],
        width: usize,
        x: Rows<'_>,
        out: &mut [f64],
    ) -> Result<()> {
        let x = self.layout.inputs.then_some(x);
        let features = self.layout.features(members, width, x)?;
        self.model.predict_into(features.rows(), out)
    }

    fn validate(&self, members: usize, inputs: &Schema, width: usize) -> Result<()> {
        check_member_count(self.layout.members, members)?;
        self.layout.check(inputs, width)?;
        self.model.validate(&self.layout.schema, width)
    }

    fn weights(&self) -> Option<&[f64]> {
        None
    }

    /// The model, and the columns it sees: the members' predictions, as they are or as logits, and perhaps the inputs.
    fn parameters(&self) -> Parameters {
        let fields = self.layout.schema.fields().iter();
        let scale = match self.layout.scale {
            Scale::Probabilities => "probabilities",
            Scale::Logits => "logits",
        };
        Parameters::new(Self::KIND)
            .with("columns", &fields.map(|field| field.name.clone()).collect::<Vec<String>>())
            .with("scale", scale)
            .with("model", self.model.parameters())
    }

    fn diagnostics(&self) -> Diagnostics {
        self.model.diagnostics()
    }

    fn record(&self) -> Result<Record> {
        let body = Body { layout: self.layout.clone(), model: self.model.record()? };
        Record::new(Self::KIND, 1, &body)
    }
}
