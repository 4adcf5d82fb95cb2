//! Members that learn in rounds: AdaBoost's stages, and the loss of boosting and networks.

use dolmen::ensemble::Ensemble;
use dolmen::error::Result;
use dolmen::learner::{Fitted, HELD_OUT_LOSS, Series};
use dolmen::recipe::AnyModel;
use dolmen::task::{Task, TaskKind};

use super::{Picture, check_member};
use crate::draw::{Colour, Entry, Fill, Frame, Heading, KeyRoom, Pen, Plot, extent, padded, short};
use crate::{Options, Subject};

/// Members with what they found round by round.
type Members = Vec<(String, Vec<Series>)>;

/// Every member's name with its series; of the member asked for alone, if one is.
fn series_of_members(subject: &Subject<'_>, options: &Options) -> Result<Members> {
    let Some(view) = subject.model() else { return Ok(Vec::new()) };
    check_member(&view, options)?;
    let is_wanted = |name: &str| options.member.as_ref().is_none_or(|wanted| wanted == name);
    let series = match view.model.any() {
        AnyModel::Density(model) => series(model),
        AnyModel::Classification(model) => series(model),
        AnyModel::Joint(model) => series(model),
        AnyModel::Regression(model) => series(model),
    };
    Ok(series.into_iter().filter(|(name, _)| is_wanted(name)).collect())
}

/// The series of each member; of one that is the average of its fits on the folds those of all of them, as each has rounds of its own.
fn series<T: Task>(model: &Ensemble<T>) -> Members {
    let of_fit = |fit: &dyn Fitted<T>| fit.diagnostics().series;
    let of_member = |model: &dyn Fitted<T>| match model.fold_fits() {
        Some(fits) => fits.iter().flat_map(|fit| of_fit(fit.as_ref())).collect(),
        None => of_fit(model),
    };
    model.names().zip(model.models()).map(|(name, own)| (name.into(), of_member(own))).collect()
}

/// AdaBoost's weights and errors.
pub(super) fn stages(subject: &Subject<'_>, options: &Options) -> Picture {
    Ok(draw_stages(series_of_members(subject, options)?, options))
}

fn draw_stages(members: Members, options: &Options) -> Option<String> {
    let find = |series: &[Series], name: &str| -> Option<Vec<f64>> {
        series.iter().find(|own| own.name == name).map(|own| own.values.clone())
    };
    let (name, alphas, errors, fits) = members.into_iter().find_map(|(name, series)| {
        let (alphas, errors) = (find(&series, "alpha")?, find(&series, "error")?);
        let fits = series.iter().filter(|own| own.name == "alpha").count();
        (!alphas.is_empty()).then_some((name, alphas, errors, fits))
    })?;
    let first = if fits > 1 { format!(", the first of its {fits} fits") } else { String::new() };
    let rounds = alphas.len() as f64;
    let most = alphas.iter().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let words = format!(
        "{name}{first}: each round's vote as a bar, as a share of the largest ({}), and its weighted error as a line.",
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

/// Members drawn at most, and room for their names.
const MOST: usize = 7;
const KEY: f64 = 190.0;

/// The losses of one member: of its only fit, or of several.
struct Losses {
    name: String,
    fits: Vec<Vec<f64>>,
    /// Whether they are shown as shares of that after the first round.
    is_relative: bool,
}

impl Losses {
    /// The losses of a fit as they are shown.
    fn shown(&self, fit: &[f64]) -> Vec<f64> {
        let unit = if self.is_relative { fit[0] } else { 1.0 };
        fit.iter().map(|loss| loss / unit).collect()
    }

    /// The losses of all fits as they are shown.
    fn all(&self) -> Vec<f64> {
        self.fits.iter().flat_map(|fit| self.shown(fit)).collect()
    }
}

/// The loss of rows held out, round by round.
pub(super) fn training(subject: &Subject<'_>, options: &Options) -> Picture {
    let mut members: Vec<Losses> = Vec::new();
    for (name, series) in series_of_members(subject, options)? {
        let own = series.into_iter().filter(|own| own.name == HELD_OUT_LOSS);
        let fits = own.map(|own| own.values).filter(|fit| !fit.is_empty()).collect();
        members.push(Losses { name, fits, is_relative: false });
    }
    members.retain(|own| !own.fits.is_empty());
    members.truncate(MOST);
    // Of numbers a member's loss is in units of its own: squares of the target, or of the target brought to one scale.
    let is_relative = subject.task() == Some(TaskKind::Regression);
    if is_relative {
        for own in &mut members {
            own.is_relative = true;
            own.fits.retain(|fit| fit[0] > 0.0);
        }
        members.retain(|own| !own.fits.is_empty());
    }
    Ok(draw_training(&members, is_relative, options))
}

/// What the loss is: a member that has another one than is usual says so in its name.
fn loss_name(members: &[Losses], is_relative: bool) -> &'static str {
    let is_usual = |own: &Losses| !own.name.contains("loss=") || own.name.contains("loss=squared");
    match (members.iter().all(is_usual), is_relative) {
        (true, true) => "squared error",
        (true, false) => "log loss",
        (false, _) => "loss",
    }
}

fn draw_training(members: &[Losses], is_relative: bool, options: &Options) -> Option<String> {
    let longest = members.iter().flat_map(|own| &own.fits).map(Vec::len).max()?;
    let finite = extent(members.iter().flat_map(Losses::all))?;
    // The first rounds may be so far off that nothing else would be seen.
    let least = finite.0;
    let settled = |own: &Losses| {
        let of_fit = |fit: &Vec<f64>| own.shown(fit)[fit.len() / 20];
        own.fits.iter().map(of_fit).fold(least, f64::max)
    };
    let start = members.iter().map(settled).fold(least, f64::max);
    let start = if is_relative { start.max(1.0) } else { start };
    let y = padded((least, if start > least { start } else { finite.1 }), 0.05);
    let above = above_words(members, y.1);
    let several = if members.iter().any(|own| own.fits.len() > 1) {
        " A member that is the average of several fits has a line for each."
    } else {
        ""
    };
    let loss = loss_name(members, is_relative);
    let (relative, first) = if is_relative {
        (
            ", as a share of that after the first round: members measure it in units of their own",
            ", first round = 1",
        )
    } else {
        ("", "")
    };
    let words = format!(
        "The mean {loss} of the rows that were held out to stop in time{relative}. A ring marks the round that is kept."
    );
    let y_name = format!("{loss} of rows held out{first}");
    let frame = Frame {
        x: (1.0, longest.max(2) as f64),
        y,
        key: Some(KeyRoom { beside: KEY, lines: members.len() }),
        ..Frame::new(
            Heading::new("Training", &format!("{words}{several}{above}"), options),
            "round",
            &y_name,
        )
    };
    let mut plot = frame.open(options);
    for (k, own) in members.iter().enumerate() {
        let thickness = if own.fits.len() > 1 { 1.3 } else { 2.0 };
        for fit in &own.fits {
            draw_losses(&mut plot, own, fit, Pen::series(k, thickness));
        }
    }
    let named = members.iter().enumerate();
    let entries: Vec<Entry<'_>> = named.map(|(k, own)| Entry::series(k, &own.name)).collect();
    plot.draw_key(&entries);
    Some(plot.finish())
}

/// Which rounds are not to be seen.
fn above_words(members: &[Losses], highest: f64) -> &'static str {
    let is_above = |loss: &f64| *loss > highest;
    let all = || members.iter().flat_map(|own| own.fits.iter().map(|fit| own.shown(fit)));
    if all().any(|fit| fit.iter().skip_while(|loss| is_above(loss)).any(is_above)) {
        " Some rounds lie above the picture."
    } else if all().any(|fit| fit.iter().any(is_above)) {
        " The first rounds lie above the picture."
    } else {
        ""
    }
}

/// The losses of one fit, with a ring at the least.
fn draw_losses(plot: &mut Plot, own: &Losses, fit: &[f64], pen: Pen) {
    let (shown, highest) = (own.shown(fit), plot.y.domain().1);
    let points = shown.iter().enumerate().map(|(i, loss)| ((i + 1) as f64, *loss));
    // Drawn along the edge they would look like rounds that learn nothing.
    let points: Vec<(f64, f64)> = points.skip_while(|(_, loss)| *loss > highest).collect();
    plot.cut_curve(&points, pen, &own.name);
    let best = (0..fit.len()).min_by(|&a, &b| fit[a].total_cmp(&fit[b])).unwrap_or(0);
    let at = plot.at(((best + 1) as f64, shown[best]));
    let title = format!("{}: best after {} rounds, {}", own.name, best + 1, short(fit[best]));
    plot.canvas.ring(at, 2.5 * pen.width, pen, &title);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds that are far off are not drawn along the upper edge, where they would look as if nothing were learned.
    #[test]
    fn rounds_above_the_picture_are_left_out_and_told() {
        let values: Vec<f64> =
            (0..100).map(|k| if k < 4 { 1e6 } else { 2.0 - 0.01 * f64::from(k) }).collect();
        let own = |values: Vec<f64>| {
            [Losses { name: "boost".into(), fits: vec![values], is_relative: false }]
        };
        let far = draw_training(&own(values.clone()), false, &Options::default()).unwrap();
        assert!(far.contains("The first rounds lie above the picture."));
        let near = draw_training(&own(values[4..].to_vec()), false, &Options::default()).unwrap();
        assert!(!near.contains("above the picture"));
        let points = |svg: &str| {
            svg.split(" d=\"M").nth(1).unwrap().split('"').next().unwrap().matches('L').count()
        };
        assert_eq!(points(&far), points(&near));
        // Nor are later ones.
        let mut worse = values[4..].to_vec();
        worse.extend([1e6; 50]);
        let later = draw_training(&own(worse), false, &Options::default()).unwrap();
        assert!(later.contains("Some rounds lie above the picture."));
        assert!(points(&later) <= points(&near) + 1, "cut where it leaves");
    }
}
