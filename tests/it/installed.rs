//! Packages that tests need and that are not ours, in a cache folder outside the clone. What is installed is asked for once a process;
//! whoever cannot have it says so with `common::skipped`.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex};

/// A virtual environment with what a `requirements.txt` of `tests/` names: its Python.
pub(crate) fn python(list: &str) -> Result<PathBuf, String> {
    let folder = folder(list, |folder, list| {
        run("python3".as_ref(), &["-m".into(), "venv".into(), folder.into()], folder)?;
        let install = ["-m", "pip", "install", "--quiet", "-r"].map(OsString::from);
        run(&folder.join("bin/python"), &[&install[..], &[list.into()]].concat(), folder)
    })?;
    Ok(folder.join("bin/python"))
}

/// `node_modules` with what a `package.json` of `tests/` names.
pub(crate) fn node_modules(list: &str) -> Result<PathBuf, String> {
    let folder = folder(list, |folder, list| {
        std::fs::copy(list, folder.join("package.json")).map_err(|error| error.to_string())?;
        let install = ["install", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error"].map(OsString::from);
        run("npm".as_ref(), &install, folder)?;
        // The package that brings Node fetches its program in a script, which npm may have been told not to run.
        let node = folder.join("node_modules/.bin/node");
        if node.exists() {
            run(&node, &["--version".into()], folder)
        } else {
            Ok(())
        }
    })?;
    Ok(folder.join("node_modules"))
}

/// The folder of a list of packages, filled by `fill` if it is not complete.
fn folder(list: &str, fill: impl Fn(&Path, &Path) -> Result<(), String>) -> Result<PathBuf, String> {
    type Known = HashMap<String, Result<PathBuf, String>>;
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().expect("no test panics while it installs");
    known.entry(list.to_owned()).or_insert_with(|| filled(list, fill)).clone()
}

fn filled(name: &str, fill: impl Fn(&Path, &Path) -> Result<(), String>) -> Result<PathBuf, String> {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))
        .ok_or("no cache folder: neither XDG_CACHE_HOME nor HOME is set")?;
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    let wanted = std::fs::read(&list).map_err(|error| format!("{}: {error}", list.display()))?;
    let key = agentglot::adapters::raw::ids::fnv(&wanted, agentglot::adapters::raw::ids::FNV_SEED);
    let (kind, _) = name.rsplit_once('.').unwrap_or((name, ""));
    let folder = cache.join("agentglot-tests").join(format!("{}-{key:016x}", kind.replace('/', "-")));
    let done = folder.join("complete");
    if !done.exists() {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        fill(&folder, &list)?;
        std::fs::write(&done, b"").map_err(|error| error.to_string())?;
    }
    Ok(folder)
}

fn run(program: &Path, args: &[OsString], folder: &Path) -> Result<(), String> {
    let output = Command::new(program).args(args).current_dir(folder).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let wrong = || format!("{} {args:?}: {} {}", program.display(), text(&output.stdout), text(&output.stderr));
    output.status.success().then_some(()).ok_or_else(wrong)
}
