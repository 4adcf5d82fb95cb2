//! Smyth and Wolpert (1999): stacked density estimation \[SmythWolpert1999\].

mod contest;
mod curves;
mod families;
mod family_claims;
mod galaxies;
mod kappa;
mod kernels;
mod known;
mod modes;
mod rows;
mod sets;
mod tables;
mod weights;

use crate::Experiment;

/// The files that the reader may bring.
pub(crate) fn files() -> impl Iterator<Item = &'static str> {
    [sets::DIABETES, sets::VOWELS, sets::STARS, sets::GALAXIES].into_iter().map(|own| own.file)
}

macro_rules! experiment {
    ($name:literal, $title:literal, $place:literal, $run:path) => {
        Experiment {
            name: $name,
            title: $title,
            source: concat!(
                "Smyth and Wolpert (1999), Linearly combining density estimators via stacking, ",
                $place
            ),
            run: $run,
        }
    };
}

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    experiment!(
        "sw99-table1",
        "Stacking against choosing, averaging and one kernel",
        "Table 1",
        tables::table1
    ),
    experiment!("sw99-table2", "The weights of the six models", "Table 2", tables::table2),
    experiment!("sw99-fig1", "Six kernels and the kernel they make", "Figure 1", kernels::fig1),
    experiment!("sw99-fig2", "Many kernels and mixtures together", "Figure 2", kernels::fig2),
    experiment!("sw99-fig3", "Ripley's four Gaussians", "Figure 3", known::fig3),
    experiment!("sw99-fig4", "Where one of the models is true", "Figure 4", known::fig4),
    experiment!("sw99-fig5", "Weights against choices", "Figure 5", weights::fig5),
    experiment!("sw99-fig6", "Growing families: diabetes", "Figure 6", families::fig6),
    experiment!("sw99-fig7", "Growing families: iris", "Figure 7", families::fig7),
    experiment!("sw99-fig8", "Growing families: vowels", "Figure 8", families::fig8),
    experiment!("sw99-galaxies", "Modes of the galaxies", "section 5", galaxies::galaxies),
    experiment!(
        "sw99-section2",
        "What combining gains as errors go from alike to opposite",
        "section 2.1",
        kappa::section2
    ),
];
