//! Trees walked by hand, on numbers and categories with missing values.

use dolmen::learner::Parameters;
use dolmen::task::{Classification, Regression};

use super::made::{array, assert_near, mixed, named, numbers, softmax, two_classes};

/// What a tree says of a row.
fn walk<'a>(tree: &'a Parameters, row: &[f64]) -> &'a [f64] {
    let (shape, values) = tree.array("values").unwrap();
    let splits = array(tree, "column").len();
    assert_eq!(shape[0], splits + 1);
    let at = |name: &str, i: usize| array(tree, name)[i];
    let mut node = 0;
    while node < splits {
        let value = row[at("column", node) as usize];
        let subset = at("subset", node);
        let left = if value.is_nan() {
            at("missing_left", node) == 1.0
        } else if subset < 0.0 {
            value <= at("threshold", node)
        } else {
            let levels = &tree.list("subsets").unwrap()[subset as usize];
            let set = Parameters::new("set").with("levels", levels.clone());
            array(&set, "levels").contains(&value)
        };
        node = at(if left { "left" } else { "right" }, node) as usize;
    }
    &values[(node - splits) * shape[1]..][..shape[1]]
}

/// Whether some split of the trees is on categories, so that the walk has tried both rules.
fn splits_on_categories(trees: &[&Parameters]) -> bool {
    trees.iter().any(|tree| array(tree, "subset").iter().any(|subset| *subset >= 0.0))
}

#[test]
fn a_tree_is_its_nodes() {
    let x = mixed();
    let (found, said) = named::<Regression>("tree(alpha=0)", x.rows(), &numbers(x.rows()));
    let tree = found.part("tree").unwrap();
    assert!(splits_on_categories(&[tree]));
    let expected: Vec<f64> = x.rows().iter().map(|row| walk(tree, row)[0]).collect();
    assert_eq!(said, expected);
}

#[test]
fn a_boosted_model_is_the_sum_of_its_trees() {
    let x = mixed();
    let spec = "boost(rounds=8, min_leaf=2)";
    let (found, said) = named::<Classification>(spec, x.rows(), &two_classes());
    let trees = found.parts("trees").unwrap();
    assert!(splits_on_categories(&trees));
    assert_eq!(found.text("link"), Some("logistic"));
    let (start, factor) = (array(&found, "start")[0], found.number("factor").unwrap());
    let expected = x.rows().iter().flat_map(|row| {
        let score = start + trees.iter().map(|tree| walk(tree, row)[0]).sum::<f64>();
        let second = 1.0 / (1.0 + (-factor * score).exp());
        [1.0 - second, second]
    });
    assert_near(&said, &expected.collect::<Vec<f64>>(), 1e-6);
}

#[test]
fn a_forest_is_the_average_of_its_trees() {
    let x = mixed();
    let average = |found: &Parameters, said: &[f64]| {
        let trees = found.parts("trees").unwrap();
        assert!(trees.len() == 9 && splits_on_categories(&trees));
        let width = said.len() / x.rows().rows();
        let expected = x.rows().iter().flat_map(|row| {
            let mean = |k| trees.iter().map(|tree| walk(tree, row)[k]).sum::<f64>() / 9.0;
            (0..width).map(mean).collect::<Vec<f64>>()
        });
        assert_near(said, &expected.collect::<Vec<f64>>(), 1e-9);
    };
    let (found, said) = named::<Regression>("forest(trees=9)", x.rows(), &numbers(x.rows()));
    average(&found, &said);
    let (found, said) = named::<Classification>("forest(trees=9)", x.rows(), &two_classes());
    average(&found, &said);
}

#[test]
fn adaboost_counts_the_votes_of_its_trees() {
    let x = mixed();
    let (found, said) = named::<Classification>("adaboost(rounds=6)", x.rows(), &two_classes());
    let trees = found.parts("trees").unwrap();
    let expected = x.rows().iter().flat_map(|row| {
        let mut votes = [0.0; 2];
        for (tree, alpha) in trees.iter().zip(array(&found, "alphas")) {
            votes[walk(tree, row)[0] as usize] += alpha * found.number("scale").unwrap();
        }
        softmax(&votes)
    });
    assert_near(&said, &expected.collect::<Vec<f64>>(), 1e-9);
}
