//! The program `dolmen`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(dolmen_cli::run(std::env::args_os()))
}
