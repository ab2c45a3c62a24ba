use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use rustix::process::Pid;
use tokio::net::unix::pipe;
use tokio::signal::unix::{SignalKind, signal};

use super::driver::{Driver, Family};
use super::environment::{check, deeper};
use super::relay::Relay;
use super::shared::{Progress, Shared};
use super::watch::Watch;
use crate::live::Input;
use crate::sys;
use crate::{Child, DEPTH, FAMILY, Ourselves, Plan, StartError, family, lookup};

pub(super) fn start(plan: Plan) -> Result<Child, StartError> {
    let depth = deeper(std::env::var_os(DEPTH).as_deref(), plan.limits.depth)?;
    check(|| "the program's name".to_owned(), &plan.program, 0)?;
    for (n, arg) in plan.args.iter().enumerate() {
        check(|| format!("argument {}", n + 1), arg, 0)?;
    }
    if let Some(cwd) = &plan.cwd {
        check(|| "the folder to run in".to_owned(), cwd.as_os_str(), 0)?;
        if !cwd.is_dir() {
            return Err(StartError::Folder { path: cwd.clone() });
        }
    }
    let mark = mark();
    let variables = variables(&plan, depth, &mark)?;
    let ourselves = if plan.ours { Ourselves::default() } else { Ourselves::running() };
    let program = lookup::find(&plan.program, std::env::var_os("PATH").as_deref(), &ourselves)?;

    // Before the start, so that no end is missed.
    let ends = signal(SignalKind::child()).map_err(setup)?;
    let relay = plan.pass_stderr.then(Relay::start).transpose().map_err(setup)?;
    // Before the child too: if we die between the two, it finds the child by its mark.
    let mut watcher = Watch::start(&plan.watcher, if plan.keeps_daemons { "" } else { &mark })?;

    let mut command = Command::new(&program);
    command.args(&plan.args).env_clear().envs(variables).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(cwd) = &plan.cwd {
        command.current_dir(cwd);
    }
    sys::end_with_parent(&mut command);
    #[cfg(target_os = "linux")]
    crate::cgroup::join(&mut command);
    let mut leader = match family::spawn(&mut command) {
        Ok(leader) => leader,
        Err(error) => {
            if let Some(mut watcher) = watcher {
                watcher.kill();
                watcher.wait();
            }
            return Err(StartError::Spawn { path: program, error });
        }
    };
    let pipes = (leader.stdin.take(), leader.stdout.take(), leader.stderr.take());
    let group = Pid::from_child(&leader);
    if let Some(watcher) = &mut watcher {
        watcher.guard(group);
    }
    let shared = Arc::new(Shared::new(group, &plan.limits));
    // From here on an error ends the program, for this is dropped.
    let family = Family::new(Arc::clone(&shared), leader, watcher);
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(setup(io::ErrorKind::BrokenPipe.into()));
    };
    let stdin = pipe::Sender::from_owned_fd(OwnedFd::from(stdin)).map_err(setup)?;
    let stdout = Input::of_ours(OwnedFd::from(stdout)).map_err(setup)?;
    let stderr = pipe::Receiver::from_owned_fd(OwnedFd::from(stderr)).map_err(setup)?;
    let (tell, progress) = tokio::sync::watch::channel(Progress::default());
    let driver = Driver::new(family, stdin, stderr, relay, ends, tell, plan.limits.linger);
    Ok(Child {
        shared,
        stdout,
        progress,
        driver: tokio::spawn(driver.run()),
    })
}

fn variables(plan: &Plan, depth: u32, mark: &str) -> Result<Vec<(OsString, OsString)>, StartError> {
    let mut variables = plan.env.choose(std::env::vars_os());
    if let Some(cwd) = &plan.cwd {
        // Ours names another folder.
        variables.retain(|(name, _)| name != "PWD");
        variables.push(("PWD".into(), cwd.clone().into()));
    }
    let mut family = std::env::var_os(FAMILY).unwrap_or_default();
    if !family.is_empty() {
        family.push(":");
    }
    family.push(mark);
    variables.push((DEPTH.into(), depth.to_string().into()));
    variables.push((FAMILY.into(), family));
    for (name, value) in &variables {
        check(|| format!("the name of the variable {name:?}"), name, 0)?;
        check(|| format!("the variable {}", name.display()), value, name.len() + 1)?;
    }
    Ok(variables)
}

const fn setup(error: io::Error) -> StartError {
    StartError::Setup { error }
}

/// A word that no other child on this machine has.
pub fn mark() -> String {
    static CHILDREN: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let count = CHILDREN.fetch_add(1, Ordering::Relaxed);
    format!("{:x}.{:x}.{count:x}", std::process::id(), now.as_nanos())
}
