//! The first look at all rows: a sample of them, by which the columns get their parts, and sums of the row weights.

use serde::{Deserialize, Serialize};

use super::Source;
use super::block::Block;
use super::sampled::{Rarest, Sampled, Threshold, class_of};
use super::work::{Outcome, Sent, Work, from_bytes, known, sent, taken, to_bytes};
use crate::error::{Error, Place, Result};
use crate::learner::Weights;
use crate::recipe::data::lot_number;
use crate::recipe::{Data, Recipe};
use crate::run::Run;
use crate::table::{Column, Table};

/// What the first look finds.
pub(super) struct Look {
    /// The sample, taken apart: it says what the columns are.
    pub(super) data: Data,
    /// Whether the levels of the groups differ from block to block.
    pub(super) groups_differ: bool,
    /// What the folds of its rows are drawn by: their groups, or their own numbers.
    pub(super) lots: Vec<u64>,
    /// Which rows are in it.
    pub(super) sampled: Sampled,
    /// Rows of the table with a target.
    pub(super) rows: usize,
    /// What row weights are multiplied by, so that their mean is 1 over those that are positive.
    pub(super) weight_scale: f64,
    /// The least and the largest number of the target, over rows of positive weight.
    pub(super) range: (f64, f64),
}

/// The look at one block.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LookWork {
    target: Option<String>,
    weights: Option<String>,
    groups: Option<String>,
    sampled: Threshold,
    /// About how many rows the sample is to have.
    most: usize,
    /// Columns of texts whose levels differ from block to block.
    texts: Vec<String>,
}

/// What it finds.
#[derive(Serialize, Deserialize)]
struct Found {
    sample: Table,
    lots: Vec<u64>,
    /// Where the rows of the sample stand in the table.
    places: Vec<usize>,
    /// Of each class, rows of positive weight that are not in it.
    left: Vec<usize>,
    /// Rows with a target.
    rows: usize,
    weight: f64,
    /// Rows of positive weight.
    weighty: usize,
    /// The least and the largest number of the target among them.
    range: (f64, f64),
}

/// The range of no numbers.
const NO_RANGE: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

impl Look {
    /// Looks at all rows, keeping about so many at most.
    pub(super) fn new(
        recipe: &Recipe,
        source: &dyn Source,
        most: usize,
        run: &Run,
    ) -> Result<Self> {
        let sampled = Threshold::of(source.rows(), most, run.stream("sample").key());
        let (target, weights, groups) =
            (recipe.target.clone(), recipe.weights.clone(), recipe.groups.clone());
        let known = source.known();
        let texts: Vec<String> = known.looks.iter().map(|(name, _)| name.clone()).collect();
        let groups_differ = groups.as_ref().is_some_and(|name| texts.contains(name));
        let work = LookWork { target, weights, groups, sampled, most, texts };
        let (mut gathered, mut rarest) = (Gathered::default(), None);
        let (mut rows, mut weight, mut weighty) = (0, 0.0, 0);
        let mut range = NO_RANGE;
        source.work(
            &work,
            &mut |found| {
                let found: Found = taken(found)?;
                rows += found.rows;
                weight += found.weight;
                weighty += found.weighty;
                range = (range.0.min(found.range.0), range.1.max(found.range.1));
                let target = work.target_of(&found.sample)?;
                let rarest = rarest.get_or_insert_with(|| Rarest::new(sampled, target, most));
                gathered.add(&work, found, rarest)
            },
            // How much work follows is not known before it: a bar would be full after it.
            &run.planned(),
        )?;
        let Some(rarest) = rarest else {
            return Err(Error::data(Place::default(), "there are no rows"));
        };
        let (table, lots, places) = gathered.chosen(&work, &rarest)?;
        let factors = work.factors(&table, &rarest)?;
        let mut data = recipe
            .data_known(table, known)
            .map_err(|error| error.in_rows(&|row| places.get(row).copied()))?;
        if let Some((factors, note)) = factors {
            let own = data.weights.as_ref().map(Weights::values);
            let weight = |(i, factor): (usize, &f64)| factor * own.map_or(1.0, |own| own[i]);
            data.weights = Some(Weights::new(factors.iter().enumerate().map(weight).collect())?);
            data.notes.push(note);
        }
        // Folds by a hash go by the numbers of the table, not of the sample.
        data.lots = data.lots.map(|_| lots.clone());
        if let (Some(name), true) = (&recipe.target, rows < source.rows()) {
            let (without, all) = (source.rows() - rows, source.rows());
            data.notes.push(format!("{without} of {all} rows have no '{name}' and are left out"));
        }
        let sampled = rarest.sampled();
        Ok(Self {
            data,
            groups_differ,
            lots,
            sampled,
            rows,
            weight_scale: weighty as f64 / weight,
            range,
        })
    }
}

/// The rows that may be in the sample, as far as the blocks so far can tell.
#[derive(Default)]
struct Gathered {
    samples: Vec<Table>,
    lots: Vec<u64>,
    places: Vec<usize>,
}

impl Gathered {
    /// Takes in those of a block.
    fn add(&mut self, work: &LookWork, found: Found, rarest: &mut Rarest) -> Result<()> {
        rarest.count(&found.left);
        let kept = work.among(&found.sample, &found.places, &mut |number, class, weight| {
            rarest.offer(number, class, weight)
        })?;
        self.lots.extend(kept.iter().map(|&i| found.lots[i]));
        self.places.extend(kept.iter().map(|&i| found.places[i]));
        let is_all = kept.len() == found.places.len();
        self.samples.push(if is_all { found.sample } else { found.sample.select(&kept) });
        Ok(())
    }

    /// Those that are, with what their folds are drawn by and where they stand.
    fn chosen(self, work: &LookWork, rarest: &Rarest) -> Result<(Table, Vec<u64>, Vec<usize>)> {
        let Self { samples, lots, places } = self;
        let (table, sampled) = (Table::stacked(samples)?, rarest.sampled());
        let kept = work.among(&table, &places, &mut |number, class, weight| {
            sampled.holds(number, class, weight)
        })?;
        if kept.len() == places.len() {
            return Ok((table, lots, places));
        }
        let (lots, places) = kept.iter().map(|&i| (lots[i], places[i])).unzip();
        Ok((table.select(&kept), lots, places))
    }
}

impl LookWork {
    /// The column of the target.
    fn target_of<'a>(&self, table: &'a Table) -> Result<Option<&'a Column>> {
        self.target.as_ref().map(|name| table.column(name)).transpose()
    }

    /// The rows of a table, which stand in these places of the whole, that are wanted by number, class and weight.
    fn among(
        &self,
        table: &Table,
        places: &[usize],
        is_wanted: &mut dyn FnMut(u64, Option<u32>, f64) -> bool,
    ) -> Result<Vec<usize>> {
        let target = self.target_of(table)?;
        let weights = match &self.weights {
            Some(name) => Some(weights_of(name, table.column(name)?)?),
            None => None,
        };
        let wanted = |&i: &usize| {
            let weight = weights.map_or(1.0, |weights| weights[i]);
            is_wanted(places[i] as u64, class_of(target, i), weight)
        };
        Ok((0..places.len()).filter(wanted).collect())
    }

    /// How much each row of the sample counts for, and what to say of it; `None` where all count alike.
    fn factors(&self, sample: &Table, rarest: &Rarest) -> Result<Option<(Vec<f64>, String)>> {
        let Some(Column::Categorical(classes)) = self.target_of(sample)? else { return Ok(None) };
        let mut in_sample = vec![0; classes.levels.len()];
        let places: Vec<usize> = (0..sample.rows()).collect();
        let counted = self.among(sample, &places, &mut |_, _, weight| weight > 0.0)?;
        // A column with too many levels to be classes has other ones in each block.
        for class in counted.iter().map(|&i| classes.codes[i] as usize) {
            in_sample.get_mut(class).into_iter().for_each(|rows| *rows += 1);
        }
        let factors = rarest.factors(&in_sample);
        let are_rare: Vec<usize> = (0..factors.len()).filter(|&c| factors[c] < 1.0).collect();
        if are_rare.is_empty() {
            return Ok(None);
        }
        let class = |c: &usize| {
            format!("{} of {} of '{}'", in_sample[*c], rarest.rows()[*c], classes.levels[*c])
        };
        let classes_told: Vec<String> = are_rare.iter().map(class).collect();
        let note = format!(
            "of rare classes the sample has more rows than their share, which count for less so that their weight is that share: {}",
            classes_told.join(", ")
        );
        let factor = |code: &u32| factors.get(*code as usize).copied().unwrap_or(1.0);
        let factors = classes.codes.iter().map(factor).collect();
        Ok(Some((factors, note)))
    }
}

impl Work for LookWork {
    fn on_block(&self, block: &mut Block, _run: &Run) -> Result<Outcome> {
        let (first, table) = (block.first, block.take_table()?);
        let target = self.target_of(&table)?;
        let groups = self.groups.as_ref().map(|name| table.column(name)).transpose()?;
        let is_present = |i: &usize| target.is_none_or(|column| !column.is_missing(*i));
        let (mut weight, mut weighty) = (0.0, 0);
        if let Some(name) = &self.weights {
            for (i, value) in weights_of(name, table.column(name)?)?.iter().enumerate() {
                if !(value.is_finite() && *value >= 0.0) {
                    let problem = format!("the row weight is {value}, not a number of at least 0");
                    return Err(Error::data(Place::cell(first + i, name), problem));
                }
                // Rows that are left out have no say in what a weight of 1 is.
                if is_present(&i) {
                    weight += value;
                    weighty += usize::from(*value > 0.0);
                }
            }
        }
        let present: Vec<usize> = (0..table.rows()).filter(is_present).collect();
        let weights = self.weights.as_ref().map(|name| table.column(name)).transpose()?;
        let weight_of = |i: usize| match weights {
            Some(Column::Numeric(weights)) => weights[i],
            _ => 1.0,
        };
        let range = match target {
            Some(Column::Numeric(numbers)) => present
                .iter()
                .filter(|&&i| weight_of(i) > 0.0)
                .fold(NO_RANGE, |(low, high), &i| (low.min(numbers[i]), high.max(numbers[i]))),
            _ => NO_RANGE,
        };
        let mut rarest = Rarest::new(self.sampled, target, self.most);
        let mut offer =
            |&i: &usize| rarest.offer((first + i) as u64, class_of(target, i), weight_of(i));
        let chosen: Vec<usize> = present.iter().copied().filter(&mut offer).collect();
        let mut left = rarest.rows().to_vec();
        for &i in chosen.iter().filter(|&&i| weight_of(i) > 0.0) {
            if let Some(left) = class_of(target, i).and_then(|c| left.get_mut(c as usize)) {
                *left = left.saturating_sub(1);
            }
        }
        let lots = chosen.iter().map(|&i| lot_number(groups, first, i)).collect();
        let places = chosen.iter().map(|i| first + i).collect();
        let mut sample = table.select(&chosen);
        sample.drop_unused_levels(&self.texts);
        let rows = present.len();
        Ok(Box::new(Found { sample, lots, places, left, rows, weight, weighty, range }))
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        sent(None, &Sent::Look(self.clone()))
    }

    fn write_outcome(&self, outcome: &Outcome) -> Result<Vec<u8>> {
        to_bytes(known::<Found>(outcome)?)
    }

    fn read_outcome(&self, bytes: &[u8]) -> Result<Outcome> {
        Ok(Box::new(from_bytes::<Found>(bytes)?))
    }
}

fn weights_of<'a>(name: &str, column: &'a Column) -> Result<&'a [f64]> {
    match column {
        Column::Numeric(values) => Ok(values),
        Column::Categorical(_) => {
            Err(Error::data(Place::column(name), "row weights must be numbers"))
        }
    }
}
