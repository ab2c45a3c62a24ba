//! The smallest program that owns a child: it joins its own stdin and stdout to those of a program and ends as that program
//! does. What becomes of the child when its owner ends, however it ends, is tested with it.
//!
//! `child_owner PROGRAM [ARGS…]`

#[cfg(not(unix))]
fn main() {
    eprintln!("child_owner: runs on Unix only");
}

#[cfg(unix)]
fn main() -> Result<std::process::ExitCode, Box<dyn std::error::Error>> {
    agentglot::child::watch::serve_if_asked();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let code = runtime.block_on(unix::own(std::env::args_os().skip(1)))?;
    Ok(std::process::ExitCode::from(code))
}

#[cfg(unix)]
mod unix {
    use std::error::Error;
    use std::ffi::OsString;
    use std::time::Duration;

    use agentglot::child::{Child, Environment, Plan, Steps};
    use agentglot::live::{Flow, Input, Output};
    use tokio::signal::unix::{SignalKind, signal};

    /// How much of the child's output may wait for our reader.
    const HELD: usize = 256 << 10;

    pub(super) async fn own(mut args: impl Iterator<Item = OsString>) -> Result<u8, Box<dyn Error>> {
        let (input, mut output) = (Input::stdin()?, Output::stdout()?);
        let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let mut plan = Plan::new(args.next().unwrap_or_default()).args(args);
        plan.env = Environment::nothing().allow(["*"]);
        plan.pass_stderr = true;
        let child = Child::start(plan)?;

        let (mut from_host, mut from_child) = (vec![0; 64 << 10], vec![0; 64 << 10]);
        let (mut host_open, mut child_open, mut stopping) = (true, true, false);
        while child_open {
            let queued = output.queued();
            tokio::select! {
                read = input.read(&mut from_host), if host_open && child.queued() < HELD => match read? {
                    0 => {
                        host_open = false;
                        child.close_stdin();
                    }
                    // A child that closed its stdin has had enough.
                    read => host_open = child.write(&from_host[..read]).is_ok(),
                },
                read = child.read(&mut from_child), if queued < HELD => match read? {
                    0 => child_open = false,
                    read => output.queue().extend_from_slice(&from_child[..read]),
                },
                () = child.room(), if child.queued() >= HELD => {}
                flow = output.serve() => if flow? == Flow::Closed {
                    break;
                },
                _ = term.recv() => {
                    stopping = true;
                    child.begin_stop(Steps::default());
                }
                _ = int.recv() => {
                    stopping = true;
                    child.begin_stop(Steps::default());
                }
                // Also when our reader takes nothing, so that the child's output cannot be read to its end.
                _ = child.ended(), if stopping => break,
            }
        }
        let ending = child.stop(Steps::default()).await;
        // A reader that is slow is waited for, unless we are told to end.
        let patience = Duration::from_secs(if stopping { 1 } else { 3600 });
        match tokio::time::timeout(patience, output.flush()).await {
            Ok(flushed) => drop(flushed?),
            Err(_) => return Ok(75),
        }
        Ok(ending.exit.map_or(70, |exit| exit.code().clamp(0, 255) as u8))
    }
}
