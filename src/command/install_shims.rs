//! `install-shims`: links that are called like the programs we can be.

use std::path::Path;

use super::print;
use crate::cli::live::links;
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
    for (name, dialect) in links() {
        let link = dir.join(name);
        match std::fs::symlink_metadata(&link) {
            Ok(about) if about.is_symlink() && link.canonicalize().is_ok_and(|path| path == own) => {}
            Ok(_) => {
                return Err(Failure::Usage(format!(
                    "{}: something else is called so already, and is left alone; remove it, or name another folder",
                    link.display()
                )));
            }
            Err(_) => std::os::unix::fs::symlink(&own, &link).map_err(|error| failed(&link, error))?,
        }
        made.push_str(&format!("{} is run --as {}\n", link.display(), dialect.name()));
    }
    print(made.as_bytes())
}
