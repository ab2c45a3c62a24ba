use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::LookupError;

/// What our own program is on disk, so that a link to it, hard or symbolic, is known for what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ourselves(Vec<(u64, u64)>);

impl Ourselves {
    /// The program that runs now.
    pub fn running() -> Self {
        // The first is right even when the file was replaced by an update; the second knows the new one.
        let places = [PathBuf::from("/proc/self/exe"), std::env::current_exe().unwrap_or_default()];
        Self(
            places
                .iter()
                .filter_map(|path| fs::metadata(path).ok())
                .map(|about| inode(&about))
                .collect(),
        )
    }

    /// A program at a path.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn at(path: &Path) -> std::io::Result<Self> {
        Ok(Self(vec![inode(&fs::metadata(path)?)]))
    }
}

fn inode(about: &fs::Metadata) -> (u64, u64) {
    (about.dev(), about.ino())
}

/// Looks a program up.
///
/// A name with a slash is a path, relative to our own folder. Any other name is looked up in the folders of `path` (the value of
/// `PATH`), one after the other; what is ourselves, a folder, or may not be run is passed over, and named in the error if nothing
/// better follows. Folders of `PATH` that are not absolute are never looked at: a file in the project that an agent works on must
/// not become the agent.
///
/// # Errors
/// When there is no such program; the error says what there is instead.
pub fn find(program: &OsStr, path: Option<&OsStr>, ourselves: &Ourselves) -> Result<PathBuf, LookupError> {
    if program.as_bytes().contains(&b'/') {
        let given = Path::new(program);
        let absolute = std::path::absolute(given).unwrap_or_else(|_| given.to_owned());
        return look(&absolute, ourselves).map(|()| absolute);
    }
    let mut passed_over = None;
    if !program.is_empty() && program != "." && program != ".." {
        for folder in std::env::split_paths(path.unwrap_or_default()).filter(|folder| folder.is_absolute()) {
            let candidate = folder.join(program);
            match look(&candidate, ourselves) {
                Ok(()) => return Ok(candidate),
                // A folder of PATH that is not there, or not ours to read, is as good as an empty one.
                Err(LookupError::Missing { .. } | LookupError::Unreadable { .. }) => {}
                Err(error) => passed_over = passed_over.or(Some(error)),
            }
        }
    }
    Err(passed_over.unwrap_or_else(|| LookupError::NotInPath { name: program.to_owned() }))
}

fn look(path: &Path, ourselves: &Ourselves) -> Result<(), LookupError> {
    let path_of = || path.to_owned();
    let about = match fs::metadata(path) {
        Ok(about) => about,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Err(LookupError::Missing { path: path_of() });
        }
        Err(error) => {
            return Err(LookupError::Unreadable {
                path: path_of(),
                kind: error.kind(),
            });
        }
    };
    if about.is_dir() {
        Err(LookupError::Directory { path: path_of() })
    } else if ourselves.0.contains(&inode(&about)) {
        Err(LookupError::Ourselves { path: path_of() })
    } else if !about.is_file() || rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_err() {
        Err(LookupError::NotExecutable { path: path_of() })
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn file(path: &Path, mode: u32) {
        fs::write(path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn passes_over_what_cannot_be_meant() {
        let root = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = root.path().join(name);
            fs::create_dir(&folder).unwrap();
            folder
        };
        let (us, text, inside, good, after) = (folder("us"), folder("text"), folder("inside"), folder("good"), folder("after"));
        file(&us.join("agentglot"), 0o755);
        symlink(us.join("agentglot"), us.join("claude")).unwrap();
        fs::hard_link(us.join("agentglot"), us.join("qwen")).unwrap();
        file(&text.join("claude"), 0o644);
        fs::create_dir(inside.join("claude")).unwrap();
        file(&good.join("claude"), 0o755);
        file(&after.join("claude"), 0o755);
        let ourselves = Ourselves::at(&us.join("agentglot")).unwrap();
        let find_in = |name: &str, folders: &[&Path]| {
            let path = std::env::join_paths(folders).unwrap();
            find(OsStr::new(name), Some(&path), &ourselves)
        };
        let missing = root.path().join("missing");

        assert_eq!(
            find_in("claude", &[&missing, &us, &text, &inside, &good, &after]),
            Ok(good.join("claude"))
        );
        assert_eq!(find_in("claude", &[&us, &text]), Err(LookupError::Ourselves { path: us.join("claude") }));
        assert_eq!(find_in("qwen", &[&us]), Err(LookupError::Ourselves { path: us.join("qwen") }));
        assert_eq!(
            find_in("claude", &[&text, &us]),
            Err(LookupError::NotExecutable { path: text.join("claude") })
        );
        assert_eq!(find_in("claude", &[&inside]), Err(LookupError::Directory { path: inside.join("claude") }));
        for nothing in ["claude", "", ".", ".."] {
            assert_eq!(find_in(nothing, &[&missing]), Err(LookupError::NotInPath { name: nothing.into() }));
        }
        assert_eq!(
            find_in("claude", &[Path::new(""), Path::new(".")]),
            Err(LookupError::NotInPath { name: "claude".into() })
        );

        let direct = |path: &Path| find(path.as_os_str(), None, &ourselves);
        assert_eq!(direct(&good.join("claude")), Ok(good.join("claude")));
        assert_eq!(direct(&us.join("claude")), Err(LookupError::Ourselves { path: us.join("claude") }));
        assert_eq!(direct(&missing.join("x")), Err(LookupError::Missing { path: missing.join("x") }));
        assert_eq!(direct(&good), Err(LookupError::Directory { path: good.clone() }));
    }

    #[test]
    fn knows_the_running_program() {
        let us = std::env::current_exe().unwrap();
        assert_eq!(
            find(us.as_os_str(), None, &Ourselves::running()),
            Err(LookupError::Ourselves { path: us.clone() })
        );
    }
}
