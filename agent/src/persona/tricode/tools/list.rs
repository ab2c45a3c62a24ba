//! `list_directory`: what `ls -l` says of a folder.
//!
//! The folder is opened through the wall, and `ls` is started in it by its handle: no path is looked up a second time.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agentglot_process::family;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::args::{is_set, text_or};
use super::place::refused;
use crate::tools::Given;
use crate::workspace::{Fault, Kind, ReadRules, Wall};

/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// So many bytes are listed.
const MOST: usize = 1 << 20;

pub(super) fn list(input: &Value, wall: &Wall, environment: &[(String, String)], cancel: &CancellationToken) -> Result<Given, Given> {
    let asked = text_or(input, "path", ".")?;
    let place = wall.locate(asked).map_err(|fault| refused(&fault, wall.absolute(asked.as_ref())))?;
    let path = place.path().to_owned();
    let failed = |fault: Fault| Given::error(format!("ls command error: ls: cannot access '{}': {}\n", path.display(), words(&fault)));
    let is_folder = place.stat().map_err(failed)?.kind == Kind::Folder;
    let (folder, name) = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if !is_folder => (wall.locate(parent).map_err(failed)?, Some(name)),
        _ => (place, None),
    };
    let handle = folder.open_folder().map_err(failed)?;
    let mut command = Command::new("ls");
    command.arg(if is_set(input, "show_hidden", false) { "-la" } else { "-l" });
    let rules = folder.read_rules();
    if rules.hides_any() {
        // No name ends a line.
        command.arg("-q");
    }
    if is_set(input, "recursive", false) {
        command.arg("-R");
    }
    if let Some(name) = name {
        command.arg("--").arg(name);
    }
    command
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .env("LC_ALL", "C");
    command.current_dir(by_handle(&handle, folder.path()));
    let said = run(&mut command, cancel).map_err(|why| Given::error(format!("List failed: {why}")))?;
    if !said.worked {
        let path = path.display().to_string();
        let error = said.stderr.replace("'./", &format!("'{path}/")).replace("'.'", &format!("'{path}'"));
        return Err(Given::error(format!("ls command error: {error}")));
    }
    let shown = match rules.hides_any() {
        true => shown(&said.stdout, folder.path(), rules),
        false => said.stdout,
    };
    let listed = shown.trim();
    Ok(Given::text(match name {
        Some(name) => {
            let line = listed.strip_suffix(&*name.to_string_lossy()).unwrap_or(listed);
            format!("{line}{}", path.display())
        }
        None if is_set(input, "recursive", false) => headed(listed, &path),
        None => listed.to_owned(),
    }))
}

/// A path that leads to an open folder, whatever has become of its name.
#[cfg(target_os = "linux")]
fn by_handle(handle: &std::fs::File, _: &Path) -> std::path::PathBuf {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", handle.as_raw_fd()).into()
}

#[cfg(not(target_os = "linux"))]
fn by_handle(_: &std::fs::File, path: &Path) -> std::path::PathBuf {
    path.to_owned()
}

/// The heads of the folders in a list of several, with the whole path.
fn headed(listed: &str, path: &Path) -> String {
    let mut text = String::with_capacity(listed.len());
    let mut is_head = true;
    for line in listed.split_inclusive('\n') {
        let name = line
            .strip_prefix('.')
            .filter(|rest| is_head && (rest.starts_with('/') || rest.starts_with(':')));
        match name {
            Some(rest) => {
                text.push_str(&path.display().to_string());
                text.push_str(rest);
            }
            None => text.push_str(line),
        }
        is_head = line == "\n";
    }
    text
}

/// The lines without those that name what the session's rules do not let be read, and without the folders that are such.
fn shown(listed: &str, root: &Path, rules: &ReadRules) -> String {
    let hides = |path: &Path| path.ancestors().take_while(|above| *above != root).any(|above| rules.hides(above));
    let (mut text, mut folder, mut is_head) = (String::with_capacity(listed.len()), root.to_owned(), true);
    for line in listed.split_inclusive('\n') {
        let head = line
            .trim_end()
            .strip_suffix(':')
            .filter(|head| is_head && (*head == "." || head.starts_with("./")));
        is_head = line == "\n";
        if let Some(head) = head {
            folder = root.join(head.trim_start_matches('.').trim_start_matches('/'));
        }
        let names_none = head.is_some() || line == "\n" || line.starts_with("total ");
        let keeps = !hides(&folder)
            && (names_none
                || name(line).is_some_and(|(name, target)| {
                    let leads = target.and_then(|target| folder.join(target).canonicalize().ok());
                    matches!(name, "." | "..") || !hides(&folder.join(name)) && !leads.is_some_and(|leads| hides(&leads))
                }));
        if keeps {
            text.push_str(line);
        }
    }
    text
}

/// The name in a line of `ls -l`, and where it leads: behind the day, which stands behind the month, and the time or the year.
fn name(line: &str) -> Option<(&str, Option<&str>)> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut rest = line.trim_end_matches('\n');
    let word = |rest: &mut &str| {
        let begins = rest.trim_start();
        let (word, behind) = begins.split_once(' ')?;
        *rest = behind;
        Some(word.to_owned())
    };
    // Mode, links, owner, group and size stand before.
    for _ in 0..4 {
        word(&mut rest)?;
    }
    while !MONTHS.contains(&word(&mut rest)?.as_str()) {}
    word(&mut rest)?.parse::<u8>().ok()?;
    word(&mut rest)?;
    // Between a year and the name stands one blank, as behind a time.
    let linked = line.starts_with('l').then(|| rest.split_once(" -> ")).flatten();
    Some(linked.map_or((rest, None), |(name, target)| (name, Some(target))))
}

fn words(fault: &Fault) -> String {
    match fault {
        Fault::Missing(_) => "No such file or directory".to_owned(),
        Fault::Denied(_) => "Permission denied".to_owned(),
        Fault::NotFolder(_) => "Not a directory".to_owned(),
        other => other.to_string(),
    }
}

struct Said {
    worked: bool,
    stdout: String,
    stderr: String,
}

/// Runs a program that starts no others, for a limited time and output.
fn run(command: &mut Command, cancel: &CancellationToken) -> Result<Said, String> {
    let spawned = family::spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut child = Ended(spawned.map_err(|error| format!("ls: {error}"))?);
    let (stdout, stderr) = (child.0.stdout.take(), child.0.stderr.take());
    let read = |pipe: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = pipe.map(|pipe| pipe.take(MOST as u64 + 1).read_to_end(&mut bytes));
            drop(read);
            bytes
        })
    };
    let stdout = read(stdout.map(|pipe| Box::new(pipe) as _));
    let stderr = read(stderr.map(|pipe| Box::new(pipe) as _));
    let until = Instant::now() + PATIENCE;
    // A program whose output is not taken any more gets a signal, or waits to be ended.
    let status = loop {
        match child.0.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if cancel.is_cancelled() => return Err("cancelled".to_owned()),
            Ok(None) if Instant::now() > until => return Err(format!("timed out after {} seconds", PATIENCE.as_secs())),
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            Err(error) => return Err(error.to_string()),
        }
    };
    let (mut stdout, stderr) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
    let cut = stdout.len() > MOST;
    stdout.truncate(MOST);
    let mut stdout = String::from_utf8_lossy(&stdout).into_owned();
    if cut {
        stdout.push_str(&format!("\n[output truncated at {MOST} bytes]"));
    }
    Ok(Said {
        worked: status.success() || cut,
        stdout,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    })
}

/// A process that does not outlive this.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
