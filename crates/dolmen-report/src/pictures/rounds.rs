//! Members that learn in rounds: AdaBoost's stages, and the loss of boosting and networks.

use dolmen::learner::{HELD_OUT_LOSS, Series};
use dolmen::task::TaskKind;

use dolmen::error::Result;

use super::{Picture, check_member};
use crate::draw::{
    Colour, Fill, Frame, Heading, Letters, Pen, SMALL, extent, padded, short, told_apart,
};
use crate::{Options, Subject};

/// Members with what they found round by round.
type Members = Vec<(String, Vec<Series>)>;

/// Every member's name with its series; of the member asked for alone, if one is.
fn series_of_members(subject: &Subject<'_>, options: &Options) -> Result<Members> {
    let Some(view) = subject.model() else { return Ok(Vec::new()) };
    check_member(&view, options)?;
    let is_wanted = |name: &str| options.member.as_ref().is_none_or(|wanted| wanted == name);
    let series = view.model.member_series().into_iter();
    Ok(series.filter(|(name, _)| is_wanted(name)).collect())
}

/// AdaBoost's weights and errors.
pub(super) fn stages(subject: &Subject<'_>, options: &Options) -> Picture {
    Ok(draw_stages(series_of_members(subject, options)?, options))
}

fn draw_stages(members: Members, options: &Options) -> Option<String> {
    let find = |series: &[Series], name: &str| -> Option<Vec<f64>> {
        series.iter().find(|own| own.name == name).map(|own| own.values.clone())
    };
    let (name, alphas, errors) = members.into_iter().find_map(|(name, series)| {
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

/// The losses of one member, and by what they are divided on the picture.
struct Losses {
    name: String,
    values: Vec<f64>,
    unit: f64,
}

/// The loss of rows held out, round by round.
pub(super) fn training(subject: &Subject<'_>, options: &Options) -> Picture {
    let mut curves: Vec<Losses> = Vec::new();
    for (name, series) in series_of_members(subject, options)? {
        let own = series.into_iter().filter(|own| own.name == HELD_OUT_LOSS);
        let losses = |own: Series| Losses { name: name.clone(), values: own.values, unit: 1.0 };
        curves.extend(own.map(losses));
    }
    curves.truncate(MOST);
    // Of numbers a member's loss is in units of its own: squares of the target, or of the target brought to one scale.
    let is_relative = subject.task() == Some(TaskKind::Regression) && curves.len() > 1;
    if is_relative {
        curves.retain(|own| own.values.first().is_some_and(|first| *first > 0.0));
        curves.iter_mut().for_each(|own| own.unit = own.values[0]);
    }
    Ok(draw_training(&curves, is_relative, options))
}

fn draw_training(curves: &[Losses], is_relative: bool, options: &Options) -> Option<String> {
    let longest = curves.iter().map(|own| own.values.len()).max()?;
    let shown = |own: &Losses| own.values.iter().map(|v| v / own.unit).collect::<Vec<f64>>();
    let finite = extent(curves.iter().flat_map(shown))?;
    // The first rounds may be so far off that nothing else would be seen.
    let least = finite.0;
    let settled = |own: &Losses| Some(own.values.get(own.values.len() / 20)? / own.unit);
    let start = curves.iter().filter_map(settled).fold(least, f64::max);
    let start = if is_relative { start.max(1.0) } else { start };
    let y = padded((least, if start > least { start } else { finite.1 }), 0.05);
    let above = if finite.1 > y.1 { " The first rounds lie above the picture." } else { "" };
    let (words, y_name) = if is_relative {
        (
            "The mean loss of the rows that were held out to stop in time, as a share of that after the first round: members measure it in units of their own. A ring marks the round that is kept.",
            "loss of rows held out, first round = 1",
        )
    } else {
        (
            "The mean loss of the rows that were held out to stop in time. A ring marks the round that is kept.",
            "loss of rows held out",
        )
    };
    let frame = Frame {
        x: (1.0, longest.max(2) as f64),
        y,
        right: 60.0,
        ..Frame::new(Heading::new("Training", &format!("{words}{above}"), options), "round", y_name)
    };
    let mut plot = frame.open(options);
    for (k, own) in curves.iter().enumerate() {
        let (colour, Losses { name, values, unit }) = (Colour::Series(k), own);
        let points = shown(own).into_iter().enumerate().map(|(i, v)| ((i + 1) as f64, v));
        // Drawn along the edge they would look like rounds that learn nothing.
        plot.curve(points.skip_while(|(_, v)| *v > y.1), Pen::new(colour, 2.0), name);
        let best = (0..values.len()).min_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0);
        let at = plot.at(((best + 1) as f64, values[best] / unit));
        let title = format!("{name}: best after {} rounds, {}", best + 1, short(values[best]));
        plot.canvas.ring(at, 5.0, Pen::new(colour, 2.0), &title);
    }
    let top = plot.y.range().1;
    let names: Vec<&str> = curves.iter().map(|own| own.name.as_str()).collect();
    for (k, (name, text)) in names.iter().zip(told_apart(&names, SMALL, 320.0)).enumerate() {
        let letters = Letters::new(SMALL, Colour::Series(k)).end();
        let right = plot.x.range().1;
        plot.canvas.titled_text((right, top + 14.0 + 18.0 * k as f64), &text, letters, name);
    }
    Some(plot.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds that are far off are not drawn along the upper edge, where they would look as if nothing were learned.
    #[test]
    fn rounds_above_the_picture_are_left_out_and_told() {
        let values: Vec<f64> =
            (0..100).map(|k| if k < 4 { 1e6 } else { 2.0 - 0.01 * f64::from(k) }).collect();
        let own = |values: Vec<f64>| [Losses { name: "boost".into(), values, unit: 1.0 }];
        let far = draw_training(&own(values.clone()), false, &Options::default()).unwrap();
        assert!(far.contains("The first rounds lie above the picture."));
        let near = draw_training(&own(values[4..].to_vec()), false, &Options::default()).unwrap();
        assert!(!near.contains("above the picture"));
        let points = |svg: &str| {
            svg.split(" d=\"M").nth(1).unwrap().split('"').next().unwrap().matches('L').count()
        };
        assert_eq!(points(&far), points(&near));
    }
}
