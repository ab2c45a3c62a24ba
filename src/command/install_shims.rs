//! `install-shims`: links that are called like the programs we can be.

use std::path::Path;

use super::print;
use crate::cli::live::links;
use crate::io::one_line;
use crate::status::{Failure, Status};
use crate::system::no_folder;

/// Makes the links, and says which.
///
/// # Errors
/// When a link cannot be made. A file of that name that is no link of ours is left alone.
pub fn run(dir: &Path) -> Result<Status, Failure> {
    let failed = |name: &Path, error: std::io::Error| Failure::Write {
        name: name.display().to_string(),
        error,
    };
    let own = std::env::current_exe()
        .and_then(|path| path.canonicalize())
        .map_err(|error| failed(dir, error))?;
    std::fs::create_dir_all(dir).map_err(|error| failed(dir, no_folder(error)))?;
    let mut made = String::new();
    let wanted: Vec<_> = links().map(|(name, dialect)| (dir.join(name), dialect)).collect();
    let is_ours = |link: &Path| link.is_symlink() && link.canonicalize().is_ok_and(|path| path == own);
    // All or none.
    if let Some((other, _)) = wanted.iter().find(|(link, _)| link.symlink_metadata().is_ok() && !is_ours(link)) {
        return Err(Failure::Usage(format!(
            "{}: something else is called so already, and is left alone; remove it, or name another folder",
            other.display()
        )));
    }
    for (link, dialect) in wanted {
        match std::os::unix::fs::symlink(&own, &link) {
            Err(error) if !is_ours(&link) => return Err(failed(&link, error)),
            _ => made.push_str(&format!("{} is run --as {}\n", one_line(&link.display().to_string()), dialect.name())),
        }
    }
    print(made.as_bytes())
}
