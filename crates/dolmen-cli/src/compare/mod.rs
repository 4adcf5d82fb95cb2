//! `dolmen compare`: is stacking worth it on these data? And which method wins over several sets?

mod show;

use std::io::Write;

use clap::{Args, ValueEnum};
use dolmen::catalogue::Catalogued;
use dolmen::error::{Error, Result};
use dolmen::evaluate::compare::{
    Comparison, NetworkStudy, SetComparison, SetsComparison, Tally, compare_on_networks,
};
use dolmen::learner::Learner;
use dolmen::recipe::{CompareRecipe, Data, Versus};
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::task::Classification;
use dolmen_report::{Again, Subject};

use crate::again::again;
use crate::args::{Common, DataFile, Format, Reading};
use crate::output::{self, Done, note};
use crate::picture::Shows;
use crate::recipe::{Columns, Members, Stacking};

/// Compare the stack that `fit` makes with choosing, averaging, cheating and each member on repeated splits.
///
/// Each split sets rows aside, fits everything on the rest and scores the rows set aside. Splits are random draws
/// (--repeats, --test-rows) or the folds of repeated cross-validation (--repeats, --outer-folds). Several files give wins, draws and
/// losses over all of them, at 95 % by the paired t-test and by the corrected resampled t-test.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen compare iris.csv --drop Species --repeats 50 --test-rows 20
  dolmen compare geyser.csv --model 'kernel(bandwidth=[0.1,0.3])' \\
      --model 'mixture(components=[1,2,3])'
  dolmen compare iris.csv --target Species --repeats 10 --outer-folds 10 \\
      --model aode --model tree
  dolmen compare iris.csv --target Species --repeats 5 \\
      --combiner simplex --combiner log-pool --model aode --model logistic
  dolmen compare visits.csv --target ill --groups patient --drop day \\
      --outer-folds 5 --repeats 2 --model logistic --model naive-bayes
  dolmen compare iris.csv --target Species --repeats 5 --sizes 15,25,40 \\
      --model logistic --model tree --plot learning.svg
  dolmen compare --random-networks=tiny
  dolmen compare sets/*.csv --target-last --task classify --members-only \\
      --outer-folds 10 --model aode --model lmg-ode")]
pub(crate) struct Compare {
    /// CSV or Parquet by extension; `-` reads CSV from standard input. Several files are compared one by one and counted.
    #[arg(required_unless_present = "random_networks")]
    data: Vec<DataFile>,
    #[command(flatten)]
    columns: Columns,
    /// The last column of each file is the one to predict.
    #[arg(long, conflicts_with = "target")]
    target_last: bool,
    /// Random splits, or repeats of the outer folds. [default: 50 splits, 10 repeats of folds]
    #[arg(long)]
    repeats: Option<usize>,
    /// Rows set aside in each random split. [default: 20; with a target a tenth]
    #[arg(long)]
    test_rows: Option<usize>,
    /// Folds of repeated cross-validation, instead of random splits.
    #[arg(long, value_name = "FOLDS", conflicts_with = "test_rows")]
    outer_folds: Option<usize>,
    /// Numbers of rows to learn from, such as 50,100,200: learning curves, on the same test parts.
    #[arg(long, value_name = "ROWS", value_delimiter = ',')]
    sizes: Vec<usize>,
    #[command(flatten)]
    stacking: Stacking,
    /// Compare the members each with each, without a stack.
    #[arg(long)]
    members_only: bool,
    /// Compare members on random Bayesian networks instead of files, each with each: wins, draws and losses over kinds of
    /// networks and sizes of samples.
    #[arg(
        long,
        value_enum,
        value_name = "SIZE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "small",
        conflicts_with_all = ["data", "target", "target_last", "repeats", "test_rows", "outer_folds", "groups", "sizes", "plot", "report"]
    )]
    random_networks: Option<StudySize>,
    #[command(flatten)]
    members: Members,
    #[command(flatten)]
    shows: Shows,
    #[command(flatten)]
    reading: Reading,
}

/// How large the study on random networks is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StudySize {
    /// 4 cells of 5 networks: seconds.
    Tiny,
    /// 108 cells of 30 networks: a minute or two.
    Small,
    /// The paper's 180 cells of 100 networks: ten minutes or more.
    Full,
}

/// The members of Cerquides and Lopez de Mantaras (2005), Table 2.
const FIVE: [&str; 5] = ["aode", "aode(threshold=30)", "bma-aode", "lmg-ode", "lmd-ode"];

pub(crate) fn run(arguments: &Compare, common: &Common, out: &mut dyn Write) -> Done {
    arguments.shows.check()?;
    let run = common.run()?;
    if let Some(size) = arguments.random_networks {
        let learners = arguments.learners_for_networks()?;
        let study = match size {
            StudySize::Tiny => NetworkStudy::tiny(),
            StudySize::Small => NetworkStudy::default(),
            StudySize::Full => NetworkStudy::full(),
        };
        let results = compare_on_networks(&learners, &study, &run)?;
        drop(run);
        return match common.format {
            Format::Json => output::json(&results, out),
            Format::Text => show::tallies(&results.tallies, results.cells.len(), out),
        };
    }
    if !arguments.sizes.is_empty() {
        let [file] = &arguments.data[..] else {
            let got = arguments.data.len();
            return Err(Error::param("sizes", "given with a single file", got).into());
        };
        return arguments.learn(file, common, &run, out);
    }
    let one = |file: &DataFile| arguments.compare_file(file, common, &run);
    let compared = arguments.data.iter().map(one).collect::<Result<Vec<_>>>()?;
    drop(run);
    let (mut comparisons, recipes): (Vec<Comparison>, Vec<CompareRecipe>) =
        compared.into_iter().unzip();
    if comparisons.len() == 1 {
        let comparison = comparisons.remove(0);
        let again = made_again(&recipes[0], common)?;
        arguments.shows.write(&Subject::Comparison(&comparison), Some(again), common)?;
        return match common.format {
            Format::Json => output::json(&comparison, out),
            Format::Text => show::comparison(&comparison, out),
        };
    }
    let files = arguments.data.iter().map(|file| file.display().to_string());
    let set = |(file, comparison)| SetComparison { file, comparison };
    let sets = SetsComparison::new(files.zip(comparisons).map(set).collect());
    let again = made_again(&recipes[0], common)?;
    arguments.shows.write(&Subject::Sets(&sets), Some(again), common)?;
    if common.format == Format::Json {
        return output::json(&sets, out);
    }
    if sets.tallies.is_empty() {
        return sets.sets.iter().try_for_each(|SetComparison { file, comparison }| {
            writeln!(out, "{file}\n")?;
            show::comparison(comparison, out)?;
            Ok(writeln!(out)?)
        });
    }
    let main: Vec<Tally> = sets.main_tallies().cloned().collect();
    show::tallies(&main, sets.sets.len(), out)?;
    show::ranks(sets.ranks.as_ref(), out)
}

/// What makes a comparison again. Recipes of several files are the same but for the target.
fn made_again(made: &CompareRecipe, common: &Common) -> Result<Again> {
    Ok(again(common, made.recipe.seed, Some(made.recipe.to_toml()?)))
}

impl Compare {
    /// Learning curves.
    fn learn(&self, file: &DataFile, common: &Common, run: &Run, out: &mut dyn Write) -> Done {
        let (recipe, data) = self.prepared(file, common, run)?;
        let curve =
            recipe.learning_curve(&data, &self.sizes, run).map_err(|error| error.in_file(file))?;
        let again = made_again(&recipe, common)?;
        self.shows.write(&Subject::Learning(&curve), Some(again), common)?;
        match common.format {
            Format::Json => output::json(&curve, out),
            Format::Text => show::learning(&curve, out),
        }
    }

    fn compare_file(
        &self,
        file: &DataFile,
        common: &Common,
        run: &Run,
    ) -> Result<(Comparison, CompareRecipe)> {
        let (recipe, data) = self.prepared(file, common, run)?;
        let comparison = recipe.compare(&data, run).map_err(|error| error.in_file(file))?;
        Ok((comparison, recipe))
    }

    /// What is compared, and the file taken apart.
    fn prepared(
        &self,
        file: &DataFile,
        common: &Common,
        run: &Run,
    ) -> Result<(CompareRecipe, Data)> {
        let mut recipe = self.members.recipe(&self.columns, &self.reading, common)?;
        self.stacking.add_to(&mut recipe)?;
        if self.target_last {
            recipe.target = Some(self.last_column(file, run)?);
        }
        if recipe.target.is_none() && recipe.task.is_some() {
            return Err(Error::param("task", "given with --target or --target-last", "alone"));
        }
        let data = recipe.read_data(file, run)?;
        data.notes.iter().for_each(|text| note(common, text));
        let versus = Versus {
            repeats: self.repeats,
            test_rows: self.test_rows,
            outer_folds: self.outer_folds,
            members_only: self.members_only,
            train_rows: None,
        };
        Ok((CompareRecipe { recipe, versus }, data))
    }

    /// The name of a file's last column.
    fn last_column(&self, file: &DataFile, run: &Run) -> Result<String> {
        if file.as_os_str() == "-" {
            let expected = "given with a file: standard input cannot be read twice";
            return Err(Error::param("target-last", expected, "standard input"));
        }
        self.reading.last_column(file, run)
    }

    /// The learners named, or those of the paper, where there are no rows to look at.
    fn learners_for_networks(&self) -> Result<Vec<Box<dyn Learner<Classification>>>> {
        let mut specs = self.members.named()?;
        if specs.is_empty() {
            specs = FIVE.iter().map(|text| Spec::parse(text)).collect::<Result<_>>()?;
        }
        specs.iter().map(Classification::learner).collect()
    }
}
