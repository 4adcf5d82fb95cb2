//! `dolmen`: combines models from the command line. One file per verb; results go to stdout, everything else to stderr.

mod advise;
mod args;
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
mod predict;
mod progress;
mod recipe;
mod sample;
mod score;
mod split;
mod weigh;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Verb};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
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
        Verb::Advise(advise) => advise::run(advise, common, &mut stdout),
        Verb::Generate(generate) => generate::run(generate, common, &mut stdout),
        Verb::Learners(learners) => learners::run(learners, common, &mut stdout),
    };
    let flushed = stdout.flush().map_err(output::Failure::from);
    match done.and(flushed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) if interrupt::was_asked() => {
            // Where stderr is closed there is nobody to tell.
            let _ = writeln!(io::stderr().lock(), "interrupted");
            ExitCode::from(interrupt::STATUS)
        }
        Err(output::Failure::Negative) => ExitCode::from(1),
        // Whoever read our output has seen enough: `dolmen ... | head` is no error.
        Err(output::Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            failure.explain(&mut io::stderr().lock());
            ExitCode::from(2)
        }
    }
}
