//! What pictures are made from.

use dolmen::combine::weigh::Weighing;
use dolmen::ensemble::Assessment;
use dolmen::evaluate::compare::{Comparison, LearningCurve, SetsComparison};
use dolmen::recipe::{
    Combined, Evidence, FitReport, Model, OtherCombination, ScoreReport, StackReport, WeighReport,
};
use dolmen::score::Estimate;
use dolmen::table::Features;
use dolmen::task::TaskKind;

use crate::draw::counted;

/// What pictures are made from.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'a> {
    /// A fitted model, with what is known of it.
    Model(ModelView<'a>),
    /// Weights of predictions from anywhere; a matrix is weighed first.
    Weighing(&'a WeighReport, Option<&'a Evidence>),
    /// Methods on repeated splits of one table.
    Comparison(&'a Comparison),
    /// The same on several tables.
    Sets(&'a SetsComparison),
    /// The same with fewer and with more rows.
    Learning(&'a LearningCurve),
    /// How a model does on rows with known truth.
    Score(&'a ScoreReport),
}

/// A model and what is known of it beside what it carries.
#[derive(Debug, Clone, Copy)]
pub struct ModelView<'a> {
    /// The model; its report and evidence are shown.
    pub model: &'a Model,
    /// Evidence of other rows, in the place of the model's own ([`Model::judge`]).
    pub evidence: Option<&'a Evidence>,
    /// How it does on other rows ([`Model::score`]).
    pub score: Option<&'a ScoreReport>,
    /// Rows to be drawn as points. Without them no single row is seen on any picture.
    pub rows: Option<&'a Features>,
}

impl<'a> Subject<'a> {
    /// A model with what it carries.
    pub fn of(model: &'a Model) -> Self {
        Self::Model(ModelView { model, evidence: None, score: None, rows: None })
    }

    pub(crate) fn model(&self) -> Option<ModelView<'a>> {
        match self {
            Self::Model(view) => Some(*view),
            _ => None,
        }
    }

    /// How predictions did row by row, if that is known.
    pub(crate) fn evidence(&self) -> Option<&'a Evidence> {
        match self {
            Self::Model(view) => view.evidence.or_else(|| view.model.evidence()),
            Self::Weighing(_, evidence) => *evidence,
            _ => None,
        }
    }

    pub(crate) fn stack(&self) -> Option<&'a StackReport> {
        match self.model()?.model.report()? {
            FitReport::Stack(report) => Some(report),
            FitReport::Alone(_) => None,
        }
    }

    fn combined(&self) -> Option<&'a Combined> {
        match self {
            Self::Weighing(report, _) => Some(&report.combined),
            _ => self.stack().map(|report| &report.combined),
        }
    }

    pub(crate) fn weighing(&self) -> Option<&'a Weighing> {
        match self.combined()? {
            Combined::Weighed(weighing) => Some(weighing),
            Combined::Other(_) => None,
        }
    }

    pub(crate) fn other(&self) -> Option<&'a OtherCombination> {
        match self.combined()? {
            Combined::Other(other) => Some(other),
            Combined::Weighed(_) => None,
        }
    }

    /// What a combination is called that is more than weights, or that a model has learned.
    pub(crate) fn combiner(&self) -> Option<&'a str> {
        match self {
            Self::Weighing(report, _) => report.other_method.as_deref(),
            _ => self.stack().map(|report| report.combiner.as_str()),
        }
    }

    /// Members that were combined; 0 where nothing was.
    pub(crate) fn member_count(&self) -> usize {
        let other = || self.other().map_or(0, |own| own.members.len());
        self.weighing().map_or_else(other, |own| own.members.len())
    }

    pub(crate) fn check(&self) -> Option<&'a Assessment> {
        match self {
            Self::Weighing(report, _) => report.check.as_ref(),
            _ => self.stack()?.check.as_ref(),
        }
    }

    /// Where the gain over the best member was measured on rows held out and is infinite: that over the best member on the rows that
    /// the weights were found on, with its name.
    pub(crate) fn finite_gain(&self) -> Option<(&'a str, &'a Estimate)> {
        let weighing = self.weighing()?;
        let gain = &weighing.gain_over_best;
        gain.mean.is_finite().then_some((weighing.best.as_str(), gain))
    }

    /// What is shown in the end: what was tried need not be what is kept.
    pub(crate) fn whole(&self) -> Whole<'a> {
        let Some(view) = self.model() else {
            return if matches!(self, Self::Weighing(..)) {
                Whole::Combination
            } else {
                Whole::Stack
            };
        };
        match view.model.report() {
            Some(FitReport::Stack(stack)) => match stack.kept.as_str() {
                "stack" => Whole::Stack,
                "uniform" => Whole::Average,
                member => Whole::Member(member),
            },
            Some(FitReport::Alone(alone)) => match &alone.members[..] {
                [only] => Whole::Member(&only.name),
                _ => Whole::Average,
            },
            None => Whole::Stack,
        }
    }

    /// What a check has tried, which need not be what is kept.
    pub(crate) fn tried_name(&self) -> &'static str {
        match self {
            Self::Weighing(..) => Whole::Combination.name(),
            _ => Whole::Stack.name(),
        }
    }

    /// That a stack was tried and is not what the model is, in a sentence; nothing where it is, or none was tried.
    pub(crate) fn not_kept(&self) -> Option<String> {
        let check = self.stack()?.check.as_ref()?;
        match self.whole() {
            Whole::Member(name) if check.verdict.only_member => {
                Some(format!("There is only one member: the model is '{name}' alone."))
            }
            Whole::Member(name) => {
                Some(format!("The stack was tried and is not kept: the model is '{name}' alone."))
            }
            Whole::Average => Some(
                "Learned weights were tried and are not kept: the model is the plain average."
                    .into(),
            ),
            Whole::Stack | Whole::Combination => None,
        }
    }

    /// How much a stored member counts; `None` where members have no weights.
    pub(crate) fn weight_of(&self, member: &str) -> Option<f64> {
        match self.whole() {
            Whole::Member(name) => Some(if name == member { 1.0 } else { 0.0 }),
            Whole::Average => Some(1.0),
            Whole::Stack | Whole::Combination => match (self.weighing(), self.other()) {
                (Some(own), _) => own.members.iter().find(|m| m.name == member).map(|m| m.weight),
                (None, Some(own)) => own.members.iter().find(|m| m.name == member)?.weight,
                (None, None) => None,
            },
        }
    }

    /// The task, unless there is nothing that could have one.
    pub(crate) fn task(&self) -> Option<TaskKind> {
        match self {
            Self::Model(view) => Some(view.model.task()),
            Self::Weighing(report, _) => match &report.combined {
                Combined::Weighed(weighing) => Some(weighing.task),
                Combined::Other(other) => Some(other.task),
            },
            Self::Comparison(comparison) => Some(comparison.task),
            Self::Sets(sets) => sets.sets.first().map(|set| set.comparison.task),
            Self::Learning(curve) => Some(curve.task),
            Self::Score(report) => Some(report.task),
        }
    }

    /// Whether there are more than two classes, so that the AUC is a mean over pairs of them.
    pub(crate) fn has_pairs(&self) -> bool {
        self.model().is_some_and(|view| view.model.classes().len() > 2)
    }

    /// Whether the rows given look like those that the model was fitted to: as many, with all columns alike. A model knows its rows by
    /// the histograms of their columns only.
    pub fn knows_rows(&self) -> bool {
        let Some(ModelView { model, evidence: Some(given), score: Some(score), .. }) = self.model()
        else {
            return false;
        };
        let learned = match model.report() {
            Some(FitReport::Stack(stack)) => stack.table_rows,
            Some(FitReport::Alone(alone)) => alone.rows,
            None => return false,
        };
        let own = model.evidence().map_or(&[][..], |own| &own.columns);
        // Rows without a target were not learned from, but may have been counted.
        let counts = [score.rows, score.rows + score.without_truth];
        counts.contains(&learned) && !own.is_empty() && own == given.columns
    }

    /// What is said of so many rows that were given for a picture.
    pub(crate) fn given_words(&self, rows: usize) -> String {
        let were = if rows == 1 { "was" } else { "were" };
        let known = if self.knows_rows() { format!(" {THE_SAME_ROWS}.") } else { String::new() };
        format!("On {} that {were} given for it.{known}", counted(rows, "row"))
    }

    /// What is lost when scores fall, in words.
    pub(crate) fn loss_name(&self) -> &'static str {
        match self.task() {
            Some(TaskKind::Regression) => "growth of the squared error per row",
            Some(TaskKind::Density) => "loss of log density per row",
            _ => "loss of log probability of the true class per row",
        }
    }

    /// What scores are, in words.
    pub(crate) fn score_name(&self) -> String {
        self.task().map_or_else(String::new, |task| format!("{} per row", task.score()))
    }
}

/// What a model is in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whole<'a> {
    /// The members, combined as was learned.
    Stack,
    /// Their plain average.
    Average,
    /// One member alone.
    Member(&'a str),
    /// Predictions from anywhere, combined.
    Combination,
}

impl Whole<'_> {
    /// What curves and lines of tables call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stack => "the stack",
            Self::Average => "the average",
            Self::Member(_) => "the model",
            Self::Combination => "the combination",
        }
    }
}

/// What rows tell that a model was fitted to, in a sentence.
pub(crate) const THE_SAME_ROWS: &str = "The rows given look like those it was fitted to, as many of them with the same values in every column: they tell nothing of new rows";

/// What the AUC of more than two classes is.
pub(crate) const OVER_PAIRS: &str = "Hand and Till's mean over pairs of classes";

/// Whether something was gained nowhere, because both are the same.
pub(crate) fn is_nothing(gain: &Estimate) -> bool {
    gain.mean == 0.0 && gain.se.is_none_or(|se| se == 0.0)
}

/// Whom a gain is over, where every fold has chosen the best member by the rows of the others.
pub(crate) const CHOSEN: &str = "the member that other rows chose as best";
/// Why such a gain is infinite.
pub(crate) const INFINITE: &str = "in some fold the member that had been best on other rows gives a held-out row no probability at all";
