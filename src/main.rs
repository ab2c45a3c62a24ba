//! The program: turns an outcome into an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(agentglot::cli::main())
}
