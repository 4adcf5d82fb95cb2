//! Learners, combiners and stored models by name: from a [`Spec`] to a learner or a combiner, and from a stored record to a
//! model. A catalogue is a value: programs add their own to it.

mod canonical;
mod classification;
mod combiners;
mod density;
mod effort;
mod generative;
mod joint;
mod named;
mod parameter;
mod plans;
mod readers;
mod regression;
mod schema;
mod supervised;
mod wrappers;

use std::fmt;
use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use combiners::weights_of;
pub use effort::Effort;
pub use parameter::{Bound, Choice, Kind, Parameter, Range};
pub use plans::{PlanEntry, plans};

use crate::combine::{Combiner, Method, StoredCombination, Weighable};
use crate::error::{Error, Result};
use crate::learner::averaged::Averageable;
use crate::learner::encoded::Encoded;
use crate::learner::{Ladder, Learner, Stored};
use crate::spec::{self, Spec};
use crate::store::Registry;
use crate::table::encode::Outliers;
use crate::table::{self, Rows, Schema};
use crate::task::{Classification, Density, Joint, Regression, Task};

/// What makes a learner or a combiner of a spec; nested specs are made by the same catalogue.
type Build<W> = dyn Fn(&Spec, &Catalogue) -> Result<Box<W>> + Send + Sync;

/// A learner (`W` is `dyn Learner<T>`) or a combiner (`dyn Combiner<T>`) that can be named.
pub struct Entry<W: ?Sized> {
    kind: &'static str,
    about: &'static str,
    parameters: Vec<Parameter>,
    example: String,
    make: Arc<Build<W>>,
}

/// A learner that can be named.
pub type LearnerEntry<T> = Entry<dyn Learner<T>>;
/// A combiner that can be named.
pub type CombinerEntry<T> = Entry<dyn Combiner<T>>;

impl<W: ?Sized> Entry<W> {
    /// An entry whose parameters are the fields of `P`, documented there; `build` reads them out of the spec
    /// ([`Spec::read`]).
    pub fn new<P: Default + Serialize + JsonSchema>(
        kind: &'static str,
        about: &'static str,
        build: impl Fn(&Spec, &Catalogue) -> Result<Box<W>> + Send + Sync + 'static,
    ) -> Self {
        Self::by_hand(kind, about, Parameter::of::<P>(), build)
    }

    /// An entry with parameters that are no struct.
    pub fn by_hand(
        kind: &'static str,
        about: &'static str,
        parameters: Vec<Parameter>,
        build: impl Fn(&Spec, &Catalogue) -> Result<Box<W>> + Send + Sync + 'static,
    ) -> Self {
        Self { kind, about, parameters, example: kind.into(), make: Arc::new(build) }
    }

    /// With one more parameter, before the others: the models that a wrapper is made of.
    #[must_use]
    pub fn of(mut self, parameter: Parameter) -> Self {
        self.parameters.insert(0, parameter);
        self
    }

    /// With an example that can be run; without one it is the kind alone.
    #[must_use]
    pub fn with_example(mut self, example: &str) -> Self {
        self.example = example.into();
        self
    }

    /// Of the words that a parameter can be, these only: a learner that serves several tasks need not know all of them in each.
    #[must_use]
    pub fn only(mut self, parameter: &str, words: &[&str]) -> Self {
        let own = self.parameters.iter_mut().filter(|own| own.name == parameter);
        own.for_each(|own| own.kind.keep(words));
        self
    }

    /// Without parameters that mean nothing for the task.
    #[must_use]
    pub fn without(mut self, parameters: &[&str]) -> Self {
        self.parameters.retain(|own| !parameters.contains(&own.name.as_str()));
        self
    }

    /// What a spec makes. Names of parameters, and words that they can be, are checked here for every entry.
    fn build(&self, spec: &Spec, catalogue: &Catalogue) -> Result<Box<W>> {
        for (name, value) in &spec.parameters {
            let Some(own) = self.parameters.iter().find(|own| own.name == *name) else {
                let known = self.parameters.iter().map(|own| own.name.as_str()).collect();
                return Err(spec::unknown_parameter(self.kind, name, known));
            };
            own.check(value, self.kind)?;
        }
        (self.make)(spec, catalogue)
    }

    /// The name in specs.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// What it is, in one line.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Its parameters, with their defaults and meaning.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// A spec to begin with.
    pub fn example(&self) -> &str {
        &self.example
    }
}

impl<W: ?Sized> Clone for Entry<W> {
    fn clone(&self) -> Self {
        let (parameters, example) = (self.parameters.clone(), self.example.clone());
        Self { parameters, example, make: Arc::clone(&self.make), ..*self }
    }
}

impl<W: ?Sized> fmt::Debug for Entry<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// The learners and combiners of one task.
#[derive(Debug, Clone)]
pub struct Section<T: Task> {
    learners: Vec<LearnerEntry<T>>,
    combiners: Vec<CombinerEntry<T>>,
}

/// Learners, combiners and readers of stored models by name. [`Catalogue::standard`] has those of this crate; a program adds
/// its own to a copy:
///
/// ```
/// use dolmen::catalogue::{Catalogue, LearnerEntry};
/// use dolmen::learner::{Simple, baseline::ClassFrequencies};
/// use dolmen::spec::Spec;
/// use dolmen::task::Classification;
///
/// let catalogue = Catalogue::standard().clone().with_learner::<Classification>(LearnerEntry::new::<ClassFrequencies>(
///     "house-rates",
///     "what the house has always said",
///     |spec, _| Ok(Box::new(Simple(spec.read::<ClassFrequencies>()?))),
/// ));
/// assert!(catalogue.learner::<Classification>(&Spec::parse("house-rates")?).is_ok());
/// # Ok::<(), dolmen::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Catalogue {
    density: Section<Density>,
    classification: Section<Classification>,
    joint: Section<Joint>,
    regression: Section<Regression>,
    registry: Registry,
}

impl Catalogue {
    /// Everything this crate has.
    pub fn standard() -> &'static Self {
        static STANDARD: LazyLock<Catalogue> = LazyLock::new(|| Catalogue {
            density: density::section(),
            classification: classification::section(),
            joint: joint::section(),
            regression: regression::section(),
            registry: readers::standard(),
        });
        &STANDARD
    }

    /// With one more learner; of two of one name the later counts.
    #[must_use]
    pub fn with_learner<T: Catalogued>(mut self, entry: LearnerEntry<T>) -> Self {
        put(&mut T::section_mut(&mut self).learners, entry);
        self
    }

    /// With one more combiner; of two of one name the later counts.
    #[must_use]
    pub fn with_combiner<T: Catalogued>(mut self, entry: CombinerEntry<T>) -> Self {
        put(&mut T::section_mut(&mut self).combiners, entry);
        self
    }

    /// With one more kind of stored model.
    #[must_use]
    pub fn with_model<T: Task, M: Stored<T>>(mut self) -> Self {
        self.registry = self.registry.with_model::<T, M>();
        self
    }

    /// With one more kind of stored combination.
    #[must_use]
    pub fn with_combination<T: Task, C: StoredCombination<T>>(mut self) -> Self {
        self.registry = self.registry.with_combination::<T, C>();
        self
    }

    /// The learners of a task, in the order they are shown.
    pub fn learners<T: Catalogued>(&self) -> &[LearnerEntry<T>] {
        &T::section(self).learners
    }

    /// The combiners of a task, in the order they are shown.
    pub fn combiners<T: Catalogued>(&self) -> &[CombinerEntry<T>] {
        &T::section(self).combiners
    }

    /// What reads stored models.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The learner of a spec. A ladder of which some rungs cannot be fitted goes on with the others
    /// ([`Learner::rungs`]).
    pub fn learner<T: Catalogued>(&self, spec: &Spec) -> Result<Box<dyn Learner<T>>> {
        let learner = self.built::<T>(spec)?;
        let members = learner.members();
        if members.len() < 2 {
            return Ok(learner);
        }
        // A member's name is its spec.
        let rung = |name: &String| {
            let rung = self.built::<T>(&Spec::parse(name).ok()?).ok()?;
            (rung.members() == [name.as_str()]).then_some(rung)
        };
        Ok(match members.iter().map(rung).collect::<Option<Vec<_>>>() {
            Some(rungs) => Box::new(Ladder::new(learner, rungs)),
            None => learner,
        })
    }

    /// The learner that the entry of a spec makes.
    fn built<T: Catalogued>(&self, spec: &Spec) -> Result<Box<dyn Learner<T>>> {
        if spec.kind == named::KIND {
            return named::build(spec, self);
        }
        let what = format!("a learner of {}", T::NAME);
        find(self.learners::<T>(), spec, "model", &what)?.build(spec, self)
    }

    /// The learner of a spec for rows of these columns: `ode` without roots has one member per column.
    pub fn learner_for<T: Catalogued>(
        &self,
        spec: &Spec,
        columns: &Schema,
    ) -> Result<Box<dyn Learner<T>>> {
        self.learner(&generative::for_columns(spec, columns))
    }

    /// The combiner of a spec.
    pub fn combiner<T: Catalogued>(&self, spec: &Spec) -> Result<Box<dyn Combiner<T>>> {
        find(self.combiners::<T>(), spec, "combiner", "one of")?.build(spec, self)
    }
}

fn put<W: ?Sized>(entries: &mut Vec<Entry<W>>, entry: Entry<W>) {
    match entries.iter_mut().find(|other| other.kind == entry.kind) {
        Some(other) => *other = entry,
        None => entries.push(entry),
    }
}

fn find<'a, W: ?Sized>(
    entries: &'a [Entry<W>],
    spec: &Spec,
    parameter: &str,
    what: &str,
) -> Result<&'a Entry<W>> {
    if let Some(entry) = entries.iter().find(|entry| entry.kind == spec.kind) {
        return Ok(entry);
    }
    let kinds: Vec<&str> = entries.iter().map(|entry| entry.kind).collect();
    let colon = if what.ends_with(" of") { "" } else { ":" };
    let expected = format!("{what}{colon} {}", kinds.join(", "));
    Err(Error::param(parameter, expected, &spec.kind).suggesting(&spec.kind, kinds))
}

/// A task with learners and combiners that can be named.
pub trait Catalogued: Weighable + Averageable {
    /// Its part of a catalogue.
    #[doc(hidden)]
    fn section(catalogue: &Catalogue) -> &Section<Self>;

    /// The same, to be added to.
    #[doc(hidden)]
    fn section_mut(catalogue: &mut Catalogue) -> &mut Section<Self>;

    /// The members used when the user names none, for rows like these.
    fn usual_members(x: Rows<'_>) -> Vec<Spec>;

    /// The combiners tried when the user names none, for rows like these; the one that does best on rows held out is used.
    fn usual_combiners(_x: Rows<'_>) -> Vec<Spec> {
        specs(&[Method::default().name()])
    }

    /// Fewer members than the usual ones, that are soon done.
    fn quick_members(x: Rows<'_>) -> Vec<Spec>;

    /// More members than the usual ones.
    fn best_members(x: Rows<'_>) -> Vec<Spec>;

    /// The member that knows least and is always done at once.
    fn baseline() -> Spec;

    /// What the user should know of rows like these.
    fn remarks(_x: Rows<'_>) -> Vec<String> {
        Vec::new()
    }

    /// Kinds of members, those first that stacks use most for what they cost: with little time they are asked first.
    const BY_USE: &'static [&'static str];

    /// What the target asks for beside these.
    fn members_suiting(_target: &Self::Target) -> Vec<Spec> {
        Vec::new()
    }

    /// The members used when the user names none.
    fn members_for(effort: Effort, x: Rows<'_>, target: &Self::Target) -> Vec<Spec> {
        let mut members = match effort {
            Effort::Quick => Self::quick_members(x),
            Effort::Usual => Self::usual_members(x),
            Effort::Best => Self::best_members(x),
        };
        members.extend(Self::members_suiting(target));
        members
    }

    /// The combiners tried when the user names none.
    fn combiners_for(_effort: Effort, x: Rows<'_>) -> Vec<Spec> {
        Self::usual_combiners(x)
    }

    /// The learner of a spec in the standard catalogue.
    fn learner(spec: &Spec) -> Result<Box<dyn Learner<Self>>> {
        Catalogue::standard().learner(spec)
    }

    /// The combiner of a spec in the standard catalogue.
    fn combiner(spec: &Spec) -> Result<Box<dyn Combiner<Self>>> {
        Catalogue::standard().combiner(spec)
    }
}

/// The part of a catalogue that is a task's.
macro_rules! section_of {
    ($field:ident) => {
        fn section(catalogue: &Catalogue) -> &Section<Self> {
            &catalogue.$field
        }

        fn section_mut(catalogue: &mut Catalogue) -> &mut Section<Self> {
            &mut catalogue.$field
        }
    };
}
use section_of;

/// A parameter struct: what specs are read into, with its documentation.
trait Parameters: Default + Serialize + DeserializeOwned + JsonSchema {}

impl<P: Default + Serialize + DeserializeOwned + JsonSchema> Parameters for P {}

/// An entry of a learner that is its own parameter struct.
fn plain<T: Task, P: Learner<T> + Parameters + 'static>(
    kind: &'static str,
    about: &'static str,
) -> LearnerEntry<T> {
    LearnerEntry::new::<P>(kind, about, |spec, _| Ok(Box::new(spec.read::<P>()?)))
}

/// An entry of a learner that works on complete numbers: its inputs go through an encoder that makes indicators of
/// categories and fills in missing values, learned in the fold.
fn on_numbers<T: Task, P: Learner<T> + Parameters + 'static>(
    kind: &'static str,
    about: &'static str,
) -> LearnerEntry<T> {
    on_tamed_numbers::<T, P>(kind, about, Outliers::Keep)
}

/// The same of a learner that would go astray with numbers far from the others.
fn on_tamed_numbers<T: Task, P: Learner<T> + Parameters + 'static>(
    kind: &'static str,
    about: &'static str,
    outliers: Outliers,
) -> LearnerEntry<T> {
    LearnerEntry::new::<P>(kind, about, move |spec, _| {
        let learner: Box<dyn Learner<T>> = Box::new(spec.read::<P>()?);
        Ok(Box::new(Encoded::of_numbers(learner).outliers(outliers)))
    })
}

/// Specs written in the program itself.
fn specs<S: AsRef<str>>(texts: &[S]) -> Vec<Spec> {
    let parse = |text: &S| Spec::parse(text.as_ref()).expect("the catalogue's own specs are right");
    texts.iter().map(parse).collect()
}

/// Rows up to which members are used whose cost grows with the square of the rows.
const FEW_ROWS: usize = 5000;

/// Columns beyond which members whose cost grows with their cube (full covariances) or square (pairs of attributes) are
/// simplified or left out.
const WIDE: usize = 64;
/// Columns beyond which trees look at some of them only.
const VERY_WIDE: usize = 256;

/// What the best effort adds for classes and numbers.
const BEST: [&str; 6] = [
    "boost",
    "boost(rate=0.03, leaves=8, min_leaf=5)",
    "boost(rate=0.05, depth=3, columns=0.5, rows=0.8)",
    "forest(min_leaf=5)",
    "extra-trees(min_leaf=3)",
    "deep-ensemble",
];
/// And what it adds where the square of the rows can be afforded.
const BEST_IN_FEW_ROWS: [&str; 2] = ["svm(c=10)", "svm(c=0.2)"];

/// The members with what the best effort adds to them.
fn with_best(mut members: Vec<Spec>, x: Rows<'_>) -> Vec<Spec> {
    let few = if x.rows() <= FEW_ROWS { BEST_IN_FEW_ROWS.as_slice() } else { &[] };
    let more = specs(&BEST).into_iter().chain(specs(few));
    for spec in more {
        if !members.contains(&spec) {
            members.push(spec);
        }
    }
    members
}

/// Whether the rows are complete numbers.
fn complete_numbers(x: Rows<'_>) -> bool {
    let numeric = x.schema().fields().iter().all(|field| field.kind == table::Kind::Numeric);
    numeric && !has_missing(x)
}

/// Whether a value is missing.
fn has_missing(x: Rows<'_>) -> bool {
    x.find(f64::is_nan).is_some()
}
