//! Section 14.4, figure 14.6: a tree and its partition of the plane into rectangles are one thing in two forms.

use dolmen::error::{Error, Result};
use dolmen::learner::{Parameters, predict};
use dolmen::recipe::{AnyModel, Data, Model, Recipe, Truth};
use dolmen::spec::Spec;
use dolmen::table::Features;
use dolmen::target::Labels;
use dolmen::task::Classification;
use dolmen_report::chart::{Chart, Series, Tone};
use dolmen_report::{Kind, Options, Subject, draw};

use crate::data::Carried;
use crate::drawn::{fit, reach, with_error};
use crate::page::{Claim, Figure, Table, estimate};
use crate::{Context, Page};

const COLUMNS: [&str; 2] = ["Petal.Length", "Petal.Width"];
const TARGET: &str = "Species";
/// Places of the grid along each side.
const STEPS: usize = 120;
const TREE: &str = "tree(depth=3, alpha=0, min_leaf=3)";

/// A part of the plane, and the class that its leaf says.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rectangle {
    x: (f64, f64),
    y: (f64, f64),
    class: usize,
}

/// The page.
pub(super) fn run(context: &Context<'_>) -> Result<Page> {
    let recipe = Recipe {
        target: Some(TARGET.into()),
        members: vec![Spec::parse(TREE)?],
        alone: true,
        ..Recipe::default()
    };
    let mut flowers = Carried::Iris.table(context.run)?;
    let mut columns = Vec::new();
    for name in [COLUMNS[0], COLUMNS[1], TARGET] {
        columns.push((name.to_string(), flowers.take(name)?));
    }
    let data = recipe.data(dolmen::table::Table::new(columns)?)?;
    let Truth::Classes(labels) = &data.truth else {
        return Err(Error::param(TARGET, "classes", "numbers"));
    };
    let model = recipe.fit_data(&data, context.run)?.model;
    let plane = Plane::around(&data);
    let parts = rectangles(&model, &plane)?;
    let classes = plane.classes(&model, context)?;
    let matching = plane.places().zip(&classes).filter(|(place, class)| {
        let inside: Vec<&Rectangle> = parts.iter().filter(|part| part.holds(*place)).collect();
        matches!(inside[..], [part] if part.class == **class)
    });
    let matching = matching.count();
    let mut page = Page::new([
        "A tree of depth three on two columns of the irises: drawn as a tree, and as the parts of the plane that its leaves answer for. The rectangles are read off the tree's \
         nodes; the colours are what the model says at each place of a grid.",
    ]);
    page.claims.push(Claim::new(
        "The tree and the partition are equivalent: every place lies in one rectangle, whose leaf is what the tree says there",
        matching == classes.len(),
        format!("{matching} of {} places; {} leaves", classes.len(), parts.len()),
    ));
    let Jumps { trees, averages, first } = jumps(&data, labels, &plane, context)?;
    let claim = Claim::new(
        "Trees have high variance: other draws of the same rows make other trees, and averages less so",
        trees.mean > averages.mean + reach(&averages),
        format!(
            "two bootstrapped trees differ on {} % of the plane, two averages of 25 on {} %; there were {first} different first splits",
            with_error(&trees, 1),
            with_error(&averages, 1)
        ),
    );
    page.claims.push(claim.holds_if("averages do on less, by two of their standard errors"));
    let svg = draw(&Subject::of(&model), Kind::Tree, &Options::default())?;
    let title = "The tree".to_string();
    page.figures.push(Figure { name: "tree".into(), title, svg });
    page.figures.push(Figure::chart("partition", &chart(&data, labels, &plane, &parts, classes)));
    page.tables.push(table(&parts, labels));
    Ok(page)
}

/// The part of the plane that is looked at.
struct Plane {
    xs: Vec<f64>,
    ys: Vec<f64>,
}

impl Plane {
    fn around(data: &Data) -> Self {
        let steps = |column: usize| -> Vec<f64> {
            let values = || data.features.rows().column(column).collect::<Vec<f64>>().into_iter();
            let low = values().fold(f64::INFINITY, f64::min);
            let high = values().fold(f64::NEG_INFINITY, f64::max);
            let margin = 0.05 * (high - low);
            let step = (high - low + 2.0 * margin) / STEPS as f64;
            (0..STEPS).map(|k| low - margin + step * (k as f64 + 0.5)).collect()
        };
        Self { xs: steps(0), ys: steps(1) }
    }

    fn ends(&self) -> Rectangle {
        let ends = |steps: &[f64]| {
            let half = (steps[1] - steps[0]) / 2.0;
            (steps[0] - half, steps[STEPS - 1] + half)
        };
        Rectangle { x: ends(&self.xs), y: ends(&self.ys), class: 0 }
    }

    fn places(&self) -> impl Iterator<Item = (f64, f64)> {
        self.ys.iter().flat_map(|y| self.xs.iter().map(move |x| (*x, *y)))
    }

    fn features(&self) -> Result<Features> {
        Features::numeric(self.places().flat_map(|(x, y)| [x, y]).collect(), 2)
    }

    /// What a model says at each place.
    fn classes(&self, model: &Model, context: &Context<'_>) -> Result<Vec<usize>> {
        let AnyModel::Classification(model) = model.any() else {
            return Err(Error::param("model", "one of classes", "another"));
        };
        Ok(likeliest(&predict(model, self.features()?.rows(), context.run)?, 3))
    }
}

fn likeliest(predicted: &[f64], classes: usize) -> Vec<usize> {
    let best =
        |row: &[f64]| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]).then(b.cmp(&a)));
    predicted.chunks_exact(classes).map(|row| best(row).unwrap_or(0)).collect()
}

impl Rectangle {
    /// Values equal to a threshold go to the left.
    fn holds(&self, (x, y): (f64, f64)) -> bool {
        self.x.0 < x && x <= self.x.1 && self.y.0 < y && y <= self.y.1
    }
}

/// The leaves' parts of the plane, read off the nodes.
fn rectangles(model: &Model, plane: &Plane) -> Result<Vec<Rectangle>> {
    let missing = || Error::param("model", "a tree of numbers", "another");
    let name = model.member_names().into_iter().next().unwrap_or_default();
    let parameters = model.member_parameters(&name).ok_or_else(missing)?;
    let nodes = parameters.part("tree").ok_or_else(missing)?;
    let mut parts = Vec::new();
    below(nodes, 0, plane.ends(), &mut parts).ok_or_else(missing)?;
    Ok(parts)
}

/// The parts below a node, which answers for `own`. Leaves are counted after the splits.
fn below(
    nodes: &Parameters,
    node: usize,
    own: Rectangle,
    parts: &mut Vec<Rectangle>,
) -> Option<()> {
    let array = |name: &str| nodes.array(name).map(|(_, values)| values);
    let columns = array("column")?;
    if node >= columns.len() {
        let (shape, values) = nodes.array("values")?;
        let width = *shape.get(1)?;
        let at = (node - columns.len()) * width;
        let class = *likeliest(values.get(at..at + width)?, width).first()?;
        parts.push(Rectangle { class, ..own });
        return Some(());
    }
    let threshold = array("threshold")?[node];
    let (mut left, mut right) = (own, own);
    if columns[node] == 0.0 {
        (left.x.1, right.x.0) = (threshold, threshold);
    } else {
        (left.y.1, right.y.0) = (threshold, threshold);
    }
    below(nodes, array("left")?[node] as usize, left, parts)?;
    below(nodes, array("right")?[node] as usize, right, parts)
}

/// How much trees change with the draw of the rows.
struct Jumps {
    /// Percent of the plane on which two trees, and two averages, differ.
    trees: dolmen::score::Estimate,
    averages: dolmen::score::Estimate,
    /// Different first splits.
    first: usize,
}

fn jumps(data: &Data, labels: &Labels, plane: &Plane, context: &Context<'_>) -> Result<Jumps> {
    let sample = data.sample::<Classification>(labels)?;
    let grid = plane.features()?;
    let pairs = context.either(10, 100);
    let of = |name: &str, spec: &str| {
        context.repeat(name, pairs, |_, run| {
            let mut predicted = Vec::new();
            let mut splits = Vec::new();
            for k in 0..2 {
                let model = fit::<Classification>(spec, &sample, &run.child(k))?;
                predicted.push(likeliest(&predict(model.as_ref(), grid.rows(), run)?, 3));
                splits.push(first_split(&model.parameters()));
            }
            let differ = predicted[0].iter().zip(&predicted[1]).filter(|(a, b)| a != b).count();
            Ok((100.0 * differ as f64 / predicted[0].len() as f64, splits))
        })
    };
    // One fit to a bootstrap sample, and the average of 25.
    let trees = of("trees", "averaged(of=tree(alpha=0), fits=1)")?;
    let averages = of("averages", "averaged(of=tree(alpha=0), fits=25)")?;
    let share = |found: &[(f64, Vec<String>)]| {
        estimate(&found.iter().map(|own| own.0).collect::<Vec<f64>>())
    };
    let mut splits: Vec<&String> = trees.iter().flat_map(|own| &own.1).collect();
    splits.sort();
    splits.dedup();
    Ok(Jumps { trees: share(&trees), averages: share(&averages), first: splits.len() })
}

/// The first split of an average of one tree, as words.
fn first_split(parameters: &Parameters) -> String {
    let fits = parameters.parts("fits").unwrap_or_default();
    let tree = fits.first().and_then(|fit| fit.part("tree"));
    let first = |name: &str| {
        tree.and_then(|tree| tree.array(name)).and_then(|(_, own)| own.first().copied())
    };
    format!("{:?} {:?}", first("column"), first("threshold"))
}

fn chart(
    data: &Data,
    labels: &Labels,
    plane: &Plane,
    parts: &[Rectangle],
    classes: Vec<usize>,
) -> Chart {
    let names = ["setosa", "versicolor", "virginica"];
    let mut chart = Chart::new(
        "The partition",
        "Each rectangle is a leaf; the points are the rows that the tree learned from.",
        "petal length",
        "petal width",
    )
    .height(420.0)
    .x_range(plane.ends().x.0, plane.ends().x.1)
    .y_range(plane.ends().y.0, plane.ends().y.1)
    .with(Series::regions("", (&plane.xs, &plane.ys), classes));
    for part in parts {
        let corners = [
            (part.x.0, part.y.0),
            (part.x.1, part.y.0),
            (part.x.1, part.y.1),
            (part.x.0, part.y.1),
            (part.x.0, part.y.0),
        ];
        chart = chart.with(Series::line("", corners).tone(Tone::Muted));
    }
    for (class, name) in names.into_iter().enumerate() {
        let rows =
            data.features.rows().iter().enumerate().filter(|(i, _)| labels.class(*i) == class);
        let points = rows.map(|(_, row)| (row[0], row[1])).collect::<Vec<_>>();
        chart = chart.with(Series::points(name, points).tone(Tone::Series(class)));
    }
    chart
}

fn table(parts: &[Rectangle], labels: &Labels) -> Table {
    use dolmen::target::Target;
    let columns = ["petal length from", "to", "petal width from", "to ", "class"];
    let mut table =
        Table::new("rectangles", "The leaves as rectangles, within the picture", columns);
    for part in parts {
        let numbers = [part.x.0, part.x.1, part.y.0, part.y.1].map(Into::into);
        let class = labels.classes()[part.class].as_str();
        table.row(numbers.into_iter().chain([class.into()]));
    }
    table
}
