//! `dolmen`: combines models from the command line. One file per verb; results go to stdout, everything else to stderr.
//!
//! The program is a library with one function, so that other doors (the Python package) can bring it along.

mod advise;
mod again;
mod args;
mod bars;
mod compare;
mod demo;
mod examples;
mod fit;
mod generate;
mod inspect;
mod interrupt;
mod json;
mod learners;
mod output;
mod picture;
mod plot;
mod predict;
mod progress;
mod recipe;
mod report;
mod reproduce;
mod sample;
mod score;
mod split;
mod weigh;

use std::ffi::OsString;
use std::io::{self, Write};

use clap::Parser;

use args::{Arguments, Verb};

/// Runs the program with these words, the program's own name first, and gives its exit status: 0 is well, 1 a negative result, 2 an
/// error, 130 interrupted. Help and mistakes in the words end the process, as they do in any program.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    let mut arguments = Arguments::parse_from(&words);
    arguments.common.words =
        words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    interrupt::listen();
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    let common = &arguments.common;
    let done = match &arguments.verb {
        Verb::Demo(demo) => demo::run(demo, common, &mut stdout),
        Verb::Inspect(inspect) => inspect::run(inspect, common, &mut stdout),
        Verb::Fit(fit) => fit::run(fit, common, &mut stdout),
        Verb::Predict(predict) => predict::run(predict, common, &mut stdout),
        Verb::Score(score) => score::run(score, common, &mut stdout),
        Verb::Sample(sample) => sample::run(sample, common, &mut stdout),
        Verb::Split(split) => split::run(split, common, &mut stdout),
        Verb::Weigh(weigh) => weigh::run(weigh, common, &mut stdout),
        Verb::Compare(compare) => compare::run(compare, common, &mut stdout),
        Verb::Plot(plot) => plot::run(plot, common, &mut stdout),
        Verb::Report(report) => report::run(report, common, &mut stdout),
        Verb::Advise(advise) => advise::run(advise, common, &mut stdout),
        Verb::Generate(generate) => generate::run(generate, common, &mut stdout),
        Verb::Learners(learners) => learners::run(learners, common, &mut stdout),
        Verb::Reproduce(reproduce) => reproduce::run(reproduce, common, &mut stdout),
    };
    let flushed = stdout.flush().map_err(output::Failure::from);
    match done.and(flushed) {
        Ok(()) => 0,
        Err(_) if interrupt::was_asked() => {
            interrupt::tell();
            interrupt::STATUS
        }
        Err(output::Failure::Negative) => 1,
        // Whoever read our output has seen enough: `dolmen ... | head` is no error.
        Err(output::Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(failure) => {
            failure.explain(&mut io::stderr().lock());
            2
        }
    }
}
