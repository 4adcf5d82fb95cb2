//! A learner of one's own in a stack: named in a recipe, and saved and read with the model. `cargo run --example own_learner`

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use dolmen::catalogue::{Catalogue, LearnerEntry};
use dolmen::learner::{Sample, Simple, SimpleLearner, SimpleModel};
use dolmen::recipe::{Model, ModelFile, Recipe};
use dolmen::table::{Column, Table};
use dolmen::{Result, run::Run, task::Regression};

/// Predicts the mean of the rows at the same hour of the day; hours are in the first column.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Daily {}
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct FittedDaily(Vec<f64>);

impl SimpleLearner<Regression> for Daily {
    type Model = FittedDaily;
    fn name(&self) -> String {
        "daily".into()
    }
    fn fit(&self, sample: &Sample<'_, Regression>, _run: &Run) -> Result<FittedDaily> {
        let mut sums = [(0.0, 1e-9); 24];
        for (i, (row, y)) in sample.x().iter().zip(sample.target()).enumerate() {
            let (sum, weight) = &mut sums[row[0] as usize % 24];
            (*sum, *weight) = (*sum + sample.weight(i) * y, *weight + sample.weight(i));
        }
        Ok(FittedDaily(sums.iter().map(|(sum, weight)| sum / weight).collect()))
    }
}

impl SimpleModel<Regression> for FittedDaily {
    const KIND: &'static str = "example.daily";
    fn width(&self) -> usize {
        1
    }
    fn predict_row(&self, row: &[f64], out: &mut [f64]) {
        out[0] = self.0[row[0] as usize % 24];
    }
}

fn main() -> Result<()> {
    let entry = LearnerEntry::new::<Daily>("daily", "means of the hours of a day", |spec, _| {
        Ok(Box::new(Simple(spec.read::<Daily>()?)))
    });
    let catalogue = Catalogue::standard().clone().with_learner::<Regression>(entry);
    let catalogue = catalogue.with_model::<Regression, Simple<FittedDaily>>();

    let hours: Vec<f64> = (0..240).map(f64::from).collect();
    let demand = hours.iter().map(|h| 0.01 * h + if h % 24.0 < 8.0 { 0.0 } else { 3.0 }).collect();
    let columns = [("hour", hours), ("demand", demand)];
    let table = Table::new(columns.map(|(name, v)| (name.into(), Column::Numeric(v))).into())?;
    let recipe = Recipe::from_toml("target = 'demand'\nmembers = ['ridge', 'daily']")?;
    let fit = recipe.fit_with(&catalogue, &recipe.data(table.clone())?, None, &Run::new(0))?;
    let bytes = fit.model.to_bytes_with(&catalogue)?;
    let model = Model::from_file(ModelFile::decode(&bytes)?, &catalogue)?;
    println!("{:?}", model.score(model.rows_of(table)?, &Run::new(0))?.figures);
    Ok(())
}
