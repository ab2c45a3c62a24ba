//! The program: turns an outcome into an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    agentglot::child::watch::serve_if_asked();
    ExitCode::from(agentglot::cli::main())
}
