//! `dolmen`: combines models from the command line. One file per verb; results go to stdout, everything else to stderr.

mod args;
mod output;
mod progress;
mod weigh;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Verb};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    let done = match arguments.verb {
        Verb::Weigh(weigh) => weigh::run(&weigh, &arguments.common, &mut stdout),
    };
    match done.and_then(|()| stdout.flush().map_err(output::Failure::from)) {
        Ok(()) => ExitCode::SUCCESS,
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
