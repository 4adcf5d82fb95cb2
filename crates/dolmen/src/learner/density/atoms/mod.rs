//! Mixtures of products for columns whose values repeat: in each component, each column is at one of its atoms or is normal elsewhere
//! (latent classes with mixed columns, McLachlanPeel2000).
//!
//! ```text
//! p(x) = sum_k kappa_k prod_j p_kj(x_j)
//!
//! p_kj(x) = q_kjl / h_j                                   in the cell of width h_j about the column's atom a_jl
//!           q_kj0 N(x | mu_kj, s_kj) / (1 - c_kj)         elsewhere, c_kj the normal's probability of the cells
//! ```
//!
//! An atom is a value that many rows have exactly. As densities of a stack must be densities of the same kind to be mixed and compared, an
//! atom is no point mass but a cell as wide as the column is fine: the least gap between two of its values. No density of
//! values that are known so finely can honestly be higher than all of the probability in one cell.
//!
//! | file | holds |
//! | --- | --- |
//! | `columns` | which values are atoms, and how wide their cells are |
//! | `em` | EM from one start |
//! | `model`, `part` | the fitted density, and that of one column in one component |

mod columns;
mod em;
mod model;
mod part;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use model::FittedAtoms;

use super::mixture::{Data, Frame, OneOrMany, clusters};
use crate::error::{Error, Place, Result, within};
use crate::learner::{Fitted, Learner, MOST_ITERATIONS, Sample};
use crate::memory;
use crate::run::Run;
use crate::spec::Spec;
use crate::table::{Kind, Rows};
use crate::task::Density;
use columns::Column;
use em::{Climb, Coded};

/// Mixtures of products of columns that are at an atom or normal elsewhere, fitted by MAP-EM.
///
/// Columns are independent within a component. Row weights count as rows. Missing values (NaN) are left out of the products.
///
/// ```
/// use dolmen::learner::density::atoms::Atoms;
/// use dolmen::learner::{Learner, Sample};
/// use dolmen::run::Run;
/// use dolmen::table::Features;
/// use dolmen::task::Density;
///
/// let x = Features::numeric(vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.1, 5.3, 6.2], 1)?;
/// let learner = Atoms { components: vec![1].into(), ..Atoms::default() };
/// let model = learner.fit(&Sample::<Density>::new(x.rows(), &())?, &Run::new(0))?.remove(0);
/// assert!((model.density().unwrap().cdf(2.0)? - 0.65).abs() < 0.05);
/// # Ok::<(), dolmen::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Atoms {
    /// Number of components; a list makes one member per number.
    #[schemars(extend("minimum" = 1, "maximum" = 100_000))]
    pub components: OneOrMany<usize>,
    /// Share of the rows from which on a value that repeats is an atom, 0.001 to 1; five rows at least.
    #[schemars(range(min = 0.001, max = 1.0))]
    pub share: f64,
    /// The knob of the prior of the normal distributions: each knows 2 beta rows of its column before it sees any. Larger is smoother.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub beta: f64,
    /// Number of starts, 1 to 10 000; the highest log posterior is kept.
    #[schemars(range(min = 1, max = 10_000))]
    pub restarts: usize,
    /// EM stops when an iteration gains less than this per row; 0 runs all iterations.
    #[schemars(range(min = 0.0))]
    pub tolerance: f64,
    /// Iterations of EM at most.
    #[schemars(range(min = 1, max = MOST_ITERATIONS))]
    pub iterations: usize,
}

impl Default for Atoms {
    fn default() -> Self {
        Self {
            components: OneOrMany::One(4),
            share: SHARE,
            beta: 0.01,
            restarts: 2,
            tolerance: 1e-5,
            iterations: 500,
        }
    }
}

/// The share of the rows from which on a value is an atom, unless another is asked for.
const SHARE: f64 = 0.01;
/// The share of the rows from which on a value is worth telling, and from which on it says that columns have atoms.
const TOLD: f64 = 0.1;
/// Columns told of by name.
const MOST_TOLD: usize = 5;
/// Rows in which atoms are looked for where it matters only that there are some.
const LOOKED_AT: usize = 20_000;

impl Atoms {
    fn validate(&self) -> Result<()> {
        if self.components.values().is_empty() {
            return Err(Error::param("components", "at least one number", "none"));
        }
        for &k in self.components.values() {
            within("components", k, 1..=100_000)?;
        }
        if !(0.001..=1.0).contains(&self.share) {
            return Err(Error::param("share", "0.001 to 1", self.share));
        }
        if !(self.beta > 0.0 && self.beta.is_finite()) {
            return Err(Error::param("beta", "above 0", self.beta));
        }
        within("restarts", self.restarts, 1..=10_000)?;
        within("iterations", self.iterations, 1..=MOST_ITERATIONS)?;
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return Err(Error::param("tolerance", "at least 0", self.tolerance));
        }
        Ok(())
    }

    fn member_name(&self, components: usize) -> String {
        Spec::rung("atoms", self, "components", components).to_string()
    }

    /// The start of highest log posterior, the first of equals.
    fn best_climb(
        &self,
        components: usize,
        coded: &Coded,
        data: &Data<'_>,
        run: &Run,
    ) -> Result<Climb> {
        let numbers = memory::size(&[coded.rows(), components, size_of::<f64>()]);
        memory::claim(numbers, "the components' shares in the rows")?;
        let run = run.child(components as u64);
        let climb = |number: usize| {
            run.check()?;
            let labels = clusters(data, components, &mut run.child(number as u64).rng());
            em::climb(self, coded, components, &labels, &run)
        };
        let climbs: Vec<Result<Climb>> = (0..self.restarts).into_par_iter().map(climb).collect();
        let mut best: Option<Climb> = None;
        for climb in climbs {
            let climb = climb?;
            if best.as_ref().is_none_or(|best| climb.objective > best.objective) {
                best = Some(climb);
            }
        }
        best.ok_or_else(|| Error::param("restarts", "at least 1", 0))
    }
}

impl Learner<Density> for Atoms {
    fn members(&self) -> Vec<String> {
        self.components.values().iter().map(|&k| self.member_name(k)).collect()
    }

    fn fit(
        &self,
        sample: &Sample<'_, Density>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Density>>>> {
        self.validate()?;
        let frame = Frame::of(sample, true)?;
        let rows = frame.rows();
        if let Some(&most) = self.components.values().iter().find(|k| **k as u64 > rows) {
            let problem = format!("{most} components need {most} rows, there are {rows}");
            return Err(Error::data(Place::default(), problem).with_hint("use fewer components"));
        }
        let column = |j| Column::find(sample, j, self.share, frame.units().scale(j));
        let columns: Vec<Column> = (0..sample.x().width()).map(column).collect();
        let coded = Coded::new(sample, &columns, frame.units());
        let data = Data::new(sample, &frame);
        let fit = |&k: &usize| {
            let climb = self.best_climb(k, &coded, &data, run)?;
            Ok(FittedAtoms::new(frame.units().clone(), columns.clone(), climb))
        };
        let models: Vec<Result<FittedAtoms>> =
            run.install(|| self.components.values().par_iter().map(fit).collect());
        models.into_iter().map(|model| Ok(Box::new(model?) as _)).collect()
    }
}

/// A column one value of which many rows have.
struct Repeated {
    column: usize,
    value: f64,
    /// Its share of the rows that have a value.
    share: f64,
}

/// The columns worth telling of; of many rows, some are looked at.
fn repeated(x: Rows<'_>) -> Vec<Repeated> {
    let step = x.rows().div_ceil(LOOKED_AT).max(1);
    let some: Vec<usize> = (0..x.rows()).step_by(step).collect();
    let view = x.view(&some);
    let of = |column: usize| {
        let (value, share) = columns::most_frequent(view.rows(), column)?;
        (share >= TOLD).then_some(Repeated { column, value, share })
    };
    let is_number = |j: &usize| x.schema().fields()[*j].kind == Kind::Numeric;
    (0..x.width()).filter(is_number).filter_map(of).collect()
}

/// Whether there are columns of whose rows many have the very same value.
pub(crate) fn has_atoms(x: Rows<'_>) -> bool {
    !repeated(x).is_empty()
}

/// Says which columns have atoms.
pub(crate) fn told(x: Rows<'_>) -> Option<String> {
    let found = repeated(x);
    let one = |found: &Repeated| {
        let name = &x.schema().fields()[found.column].name;
        format!("'{name}' ({:.0} % of the rows are exactly {})", 100.0 * found.share, found.value)
    };
    let mut named: Vec<String> = found.iter().take(MOST_TOLD).map(one).collect();
    if found.len() > MOST_TOLD {
        named.push(format!("and {} more", found.len() - MOST_TOLD));
    }
    let named = named.join(", ");
    let so = "log densities depend on how finely such columns are measured";
    (!found.is_empty()).then(|| format!("values repeat in {named}: {so}"))
}
