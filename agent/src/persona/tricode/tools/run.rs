//! `run_command`

use std::time::Duration;

use serde_json::Value;

use super::args::{given, seconds, string, text, universal};
use crate::tools::shell::{Cause, Commands, Order, Ran};
use crate::tools::{Cx, Given};
use agentglot_adapters::raw::event::ResultStatus;
use agentglot_process::Exit;

/// How long a command may take if the model does not say: seconds.
const TIMEOUT: f64 = 30.0;

/// The longest that the model can ask for: a day.
const LONGEST: f64 = 86_400.0;

pub(super) async fn run(commands: &Commands, input: &Value, cx: &Cx<'_>) -> Given {
    let command = match text(input, "command") {
        Ok(command) => command,
        Err(wrong) => return wrong,
    };
    let timeout = match seconds(input, "timeout", TIMEOUT) {
        Ok(timeout) => timeout.clamp(0.0, LONGEST),
        Err(why) => return Given::error(format!("Execution failed: {why}")),
    };
    let order = Order {
        timeout: Some(Duration::from_secs_f64(timeout)),
        ..Order::new(command)
    };
    // A shell with nothing to do has nothing to say either.
    if command.trim().is_empty() {
        return Given::text("[no output]");
    }
    let ran = match commands.run(order, &cx.cancel, cx.tell).await {
        Ok(ran) => ran,
        Err(error) => return Given::error(format!("Execution failed: {error}")),
    };
    let said = said(&ran);
    match ran.cause {
        Cause::TimedOut => {
            let asked = given(input, "timeout").map_or_else(|| "30".to_owned(), string);
            Given::error(format!("Command timed out after {asked} seconds"))
        }
        Cause::Cancelled => Given {
            status: ResultStatus::Canceled,
            ..Given::text(format!("Command was cancelled\n{said}"))
        },
        Cause::Itself => {
            // As Python counts: a signal is its negative number.
            let code = match ran.exit {
                Some(Exit::Code(code)) => code,
                Some(Exit::Signal(number)) => -number,
                None => -9,
            };
            let given = if code == 0 {
                Given::text(said)
            } else {
                Given::error(format!("Exit code {code}\n{said}"))
            };
            Given {
                exit_code: Some(ran.code()),
                ..given
            }
        }
    }
}

fn said(ran: &Ran) -> String {
    let (stdout, stderr) = (universal(ran.stdout.text()), universal(ran.stderr.text()));
    let mut parts = Vec::new();
    if !stdout.is_empty() {
        parts.push(stdout);
    }
    if !stderr.is_empty() {
        parts.push(format!("[stderr]\n{stderr}"));
    }
    if parts.is_empty() { "[no output]".to_owned() } else { parts.join("\n") }
}
