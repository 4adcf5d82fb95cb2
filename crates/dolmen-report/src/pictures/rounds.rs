//! Members that learn in rounds: AdaBoost's stages, and the loss of boosting and networks.

use dolmen::learner::{HELD_OUT_LOSS, Series};

use crate::draw::{Colour, Fill, Frame, Heading, Letters, Pen, SMALL, extent, padded, short};
use crate::{Options, Subject};

/// Every member's name with its series; of the member asked for alone, if one is.
fn series_of_members(subject: &Subject<'_>, options: &Options) -> Vec<(String, Vec<Series>)> {
    let Some(view) = subject.model() else { return Vec::new() };
    let is_wanted = |name: &str| options.member.as_ref().is_none_or(|wanted| wanted == name);
    let series = view.model.member_series().into_iter();
    series.filter(|(name, _)| is_wanted(name)).collect()
}

/// AdaBoost's weights and errors.
pub(super) fn stages(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let find = |series: &[Series], name: &str| -> Option<Vec<f64>> {
        series.iter().find(|own| own.name == name).map(|own| own.values.clone())
    };
    let (name, alphas, errors) =
        series_of_members(subject, options).into_iter().find_map(|(name, series)| {
            let (alphas, errors) = (find(&series, "alpha")?, find(&series, "error")?);
            (!alphas.is_empty()).then_some((name, alphas, errors))
        })?;
    let rounds = alphas.len() as f64;
    let most = alphas.iter().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let words = format!(
        "{name}: each round's vote as a bar, as a share of the largest ({}), and its weighted error as a line.",
        short(most)
    );
    let frame = Frame {
        x: (0.5, rounds + 0.5),
        right: 60.0,
        ..Frame::new(Heading::new("Stage by stage", &words, options), "round", "vote and error")
    };
    let mut plot = frame.open(options);
    for (k, (alpha, error)) in alphas.iter().zip(&errors).enumerate() {
        let round = (k + 1) as f64;
        let ((left, top), (right, bottom)) =
            (plot.at((round - 0.4, alpha / most)), plot.at((round + 0.4, 0.0)));
        let title = format!("round {}: vote {}, error {}", k + 1, short(*alpha), short(*error));
        plot.canvas.rect(
            (left, top),
            ((right - left).max(0.6), bottom - top),
            Fill::new(Colour::First).faded(0.55),
            &title,
        );
    }
    let line = errors.iter().enumerate().map(|(k, error)| ((k + 1) as f64, *error));
    plot.curve(line, Pen::new(Colour::Series(5), 2.0), "weighted error");
    let last = errors.last().copied().unwrap_or(0.0);
    plot.end_label((rounds + 0.5, last), "error", Colour::Series(5), 50.0);
    Some(plot.finish())
}

/// Curves drawn at most.
const MOST: usize = 7;

/// The loss of rows held out, round by round.
pub(super) fn training(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let mut curves: Vec<(String, Vec<f64>)> = Vec::new();
    for (name, series) in series_of_members(subject, options) {
        let own = series.into_iter().filter(|own| own.name == HELD_OUT_LOSS);
        curves.extend(own.map(|own| (name.clone(), own.values)));
    }
    curves.truncate(MOST);
    let longest = curves.iter().map(|(_, values)| values.len()).max()?;
    let finite = extent(curves.iter().flat_map(|(_, values)| values.iter().copied()))?;
    // The first rounds may be so far off that nothing else would be seen.
    let least = finite.0;
    let start = curves
        .iter()
        .filter_map(|(_, values)| values.get(values.len() / 20))
        .copied()
        .fold(least, f64::max);
    let frame = Frame {
        x: (1.0, longest.max(2) as f64),
        y: padded((least, if start > least { start } else { finite.1 }), 0.05),
        right: 60.0,
        ..Frame::new(
            Heading::new(
                "Training",
                "The mean loss of the rows that were held out to stop in time. A ring marks the round that is kept.",
                options,
            ),
            "round",
            "loss of rows held out",
        )
    };
    let mut plot = frame.open(options);
    for (k, (name, values)) in curves.iter().enumerate() {
        let colour = Colour::Series(k);
        plot.curve(
            values.iter().enumerate().map(|(i, v)| ((i + 1) as f64, *v)),
            Pen::new(colour, 2.0),
            name,
        );
        let best = (0..values.len()).min_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0);
        let at = plot.at(((best + 1) as f64, values[best]));
        let title = format!("{name}: best after {} rounds, {}", best + 1, short(values[best]));
        plot.canvas.ring(at, 5.0, Pen::new(colour, 2.0), &title);
    }
    let top = plot.y.range().1;
    for (k, (name, _)) in curves.iter().enumerate() {
        let letters = Letters::new(SMALL, Colour::Series(k)).end();
        let right = plot.x.range().1;
        let text = crate::draw::fitted(name, SMALL, 320.0);
        plot.canvas.titled_text((right, top + 14.0 + 18.0 * k as f64), &text, letters, name);
    }
    Some(plot.finish())
}
