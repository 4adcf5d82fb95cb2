//! Blocks that others have: their rows are kept from work to work, and give what the blocks themselves give.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Mutex;

use dolmen::catalogue::Catalogue;
use dolmen::recipe::Recipe;
use dolmen::recipe::stream::{Block, Cut, Elsewhere, KeptRows, Source, work_on};
use dolmen::table::{Categories, Column, Known, Table};
use dolmen::{Result, Run};

use crate::passes::table;

const ROWS: usize = 700;

/// A worker that keeps the rows of its blocks, or reads its tables anew for each work.
struct Worker {
    blocks: Vec<Table>,
    kept: Option<Mutex<Vec<Option<KeptRows>>>>,
    /// Tables read.
    read: Mutex<usize>,
}

impl Worker {
    fn new(table: &Table, keeps: bool) -> Self {
        let part = |first: usize| {
            table.select(&(first..table.rows().min(first + ROWS)).collect::<Vec<_>>())
        };
        let blocks: Vec<Table> = (0..table.rows()).step_by(ROWS).map(part).collect();
        let kept = keeps.then(|| Mutex::new(blocks.iter().map(|_| None).collect()));
        Self { blocks, kept, read: Mutex::new(0) }
    }

    fn work(&self, work: &[u8], number: usize, run: &Run) -> Result<Vec<u8>> {
        let kept = self.kept.as_ref().and_then(|kept| kept.lock().unwrap()[number].clone());
        let block = if let Some(kept) = kept.filter(|kept| kept.serve(work)) {
            kept.into()
        } else {
            *self.read.lock().unwrap() += 1;
            Block::new(number * ROWS, self.blocks[number].clone())
        };
        let (outcome, rows) = work_on(work, block, Catalogue::standard().registry(), run)?;
        if let (Some(kept), Some(rows)) = (&self.kept, rows) {
            assert!(rows.bytes() >= ROWS.min(self.blocks[number].rows()) * size_of::<f64>());
            kept.lock().unwrap()[number] = Some(rows);
        }
        Ok(outcome)
    }
}

fn bytes_of(recipe: &Recipe, source: &dyn Source) -> Vec<u8> {
    recipe.fit_blocks(source, &Run::new(0)).unwrap().model.to_bytes().unwrap()
}

#[test]
fn kept_rows_give_the_bytes_of_tables() {
    let plain = table(3000);
    let numbers = |name: &str| match plain.column(name).unwrap() {
        Column::Numeric(values) => values.clone(),
        Column::Categorical(_) => unreachable!("the table holds numbers"),
    };
    let words = numbers("x").into_iter().map(|x| Some(if x > 2.0 { "far" } else { "near" }));
    let counts = (0..3000).map(|i| f64::from(i % 3)).collect();
    let labelled = Table::new(vec![
        ("y".into(), Column::Numeric(numbers("y"))),
        ("n".into(), Column::Numeric(counts)),
        ("class".into(), Column::Categorical(Categories::new(words))),
    ])
    .unwrap();
    let density = "members = ['gaussian', 'mixture(components=2)']\n";
    let classes =
        "members = ['logistic', 'naive-bayes', 'tree']\ntarget = 'class'\nweights = 'n'\n";
    for (table, recipe) in [(plain, density), (labelled, classes)] {
        let recipe =
            format!("{recipe}plan = 'hashed(folds=3)'\ncheck = 'matrix'\nkeep_stack = true");
        let recipe = Recipe::from_toml(&recipe).unwrap();
        let expected = bytes_of(&recipe, &Cut { table: table.clone(), rows: ROWS });
        let read = [true, false].map(|keeps| {
            let (worker, run) = (Worker::new(&table, keeps), Run::new(0));
            let ask = |work: &[u8], take: &mut dyn FnMut(&[u8]) -> Result<()>| {
                (0..worker.blocks.len()).try_for_each(|b| take(&worker.work(work, b, &run)?))
            };
            let (rows, columns) = (table.rows(), table.names().len());
            assert!(
                bytes_of(&recipe, &Elsewhere { rows, columns, known: Known::default(), ask: &ask })
                    == expected
            );
            let read = *worker.read.lock().unwrap();
            read / worker.blocks.len()
        });
        // Once for the look, once for all passes and predictions; or for each.
        assert!(read[0] == 2 && read[1] > 4, "{read:?}");
    }
}
