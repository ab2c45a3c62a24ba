//! Python with the packages that read what we write, in a virtual environment in a cache folder outside the clone.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The interpreter of a virtual environment that has the packages.
pub(crate) fn environment() -> Result<PathBuf, String> {
    let requirements = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/python/requirements.txt");
    let wanted = std::fs::read(&requirements).map_err(|e| e.to_string())?;
    let key = agentglot::adapters::ids::fnv(&wanted, agentglot::adapters::ids::FNV_SEED);
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let folder = cache
        .ok_or("no cache folder: neither XDG_CACHE_HOME nor HOME is set")?
        .join(format!("agentglot-tests/venv-{key:016x}"));
    let python = folder.join("bin/python");
    let done = folder.join("complete");
    if done.exists() {
        return Ok(python);
    }
    let run = |program: &Path, args: &[&std::ffi::OsStr]| {
        let output = Command::new(program)
            .args(args)
            .output()
            .map_err(|e| format!("{}: {e}", program.display()))?;
        output
            .status
            .success()
            .then_some(())
            .ok_or_else(|| format!("{} {args:?}: {}", program.display(), said(&output)))
    };
    run(Path::new("python3"), &["-m".as_ref(), "venv".as_ref(), folder.as_os_str()])?;
    run(
        &python,
        &[
            "-m".as_ref(),
            "pip".as_ref(),
            "install".as_ref(),
            "--quiet".as_ref(),
            "-r".as_ref(),
            requirements.as_os_str(),
        ],
    )?;
    std::fs::write(&done, b"").map_err(|e| e.to_string())?;
    Ok(python)
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
