//! Where a program looks for a session that is new to it.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use agentglot_adapters::raw::store::{Home, Ids, Project, short_name, short_slug, slug};
use chrono::{DateTime, Local, Utc};
use serde_json::Value;

use crate::homes::short_text;
use crate::io::no_link_below;
use crate::system::no_folder;

/// A session that is written for a program.
#[derive(Debug)]
pub(super) struct New {
    pub(super) id: String,
    /// The working folder, a path without links.
    pub(super) cwd: String,
    pub(super) now: DateTime<Utc>,
}

/// So many folders of one name are tried.
const MOST: usize = 1000;

impl New {
    pub(super) fn of(home: &Home, cwd: String) -> Self {
        let id = match home.ids {
            Ids::Random => uuid::Uuid::new_v4().to_string(),
            Ids::Timed => uuid::Uuid::now_v7().to_string(),
            Ids::Prefixed(prefix) => {
                let random = [uuid::Uuid::new_v4(), uuid::Uuid::new_v4()].map(|id| id.simple().to_string()).concat();
                format!("{prefix}{}", &random[..26])
            }
        };
        Self { id, cwd, now: Utc::now() }
    }

    /// A time in ISO 8601: these milliseconds since 1970, or now.
    pub(super) fn time(&self, millis: Option<i64>) -> String {
        let time = millis.and_then(DateTime::from_timestamp_millis).unwrap_or(self.now);
        time.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
    }

    /// Where the program looks for it. What has to be there for that is made.
    ///
    /// # Errors
    /// Those of the system.
    pub(super) fn path(&self, home: &Home, root: &Path) -> io::Result<PathBuf> {
        let project = match home.project {
            Project::None => String::new(),
            Project::Path => slug(&self.cwd),
            Project::ShortPath => short_slug(&self.cwd),
            Project::Claimed { marker, list, beside } => self.claim(home, root, marker, list, beside)?,
        };
        let local = self.now.with_timezone(&Local);
        let file = home
            .file
            .replace("YEAR", &local.format("%Y").to_string())
            .replace("MONTH", &local.format("%m").to_string())
            .replace("DAY", &local.format("%d").to_string())
            .replace("MINUTE", &self.now.format("%Y-%m-%dT%H-%M").to_string())
            .replace("TIME", &local.format("%Y-%m-%dT%H-%M-%S").to_string())
            .replace("SHORT", self.id.get(..8).unwrap_or(&self.id))
            .replace("ID", &self.id)
            .replace("PROJECT", &project);
        let path = root.join(file);
        let folder = path.parent().unwrap_or(root);
        no_link_below(root, folder)?;
        make(folder)?;
        Ok(path)
    }

    /// The folder that the program has for the working folder, or will take.
    fn claim(&self, home: &Home, root: &Path, marker: &str, list: &str, beside: &[&str]) -> io::Result<String> {
        let (within, _) = home.file.split_once("/PROJECT").unwrap_or_default();
        let listed = listed(&root.join(list));
        let owner = |within: &str, name: &str| short_text(&root.join(within).join(name).join(marker));
        let is_ours = |name: &str| {
            [within]
                .iter()
                .chain(beside)
                .all(|folder| owner(folder, name).is_none_or(|owner| owner == self.cwd))
        };
        if let Some(name) = listed.iter().find(|(path, _)| *path == self.cwd).map(|(_, name)| name)
            && is_name(name)
            && is_ours(name)
        {
            return Ok(name.clone());
        }
        let mut there: Vec<String> = fs::read_dir(root.join(within))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        there.sort();
        if let Some(name) = there
            .into_iter()
            .find(|name| owner(within, name).is_some_and(|owner| owner == self.cwd) && is_ours(name))
        {
            return Ok(name);
        }
        let first = short_name(&self.cwd);
        for n in 0..MOST {
            let name = if n == 0 { first.clone() } else { format!("{first}-{n}") };
            if listed.iter().any(|(_, taken)| *taken == name) || !is_ours(&name) {
                continue;
            }
            let folder = root.join(within).join(&name);
            no_link_below(root, &folder)?;
            make(&folder)?;
            let marked = OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(marker));
            match marked.and_then(|mut file| file.write_all(self.cwd.as_bytes())) {
                Ok(()) => return Ok(name),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other(format!(
            "no name for a folder is free: there are {first} to {first}-{MOST}"
        )))
    }
}

/// The folders that a program lists, with the paths that they stand for.
fn listed(list: &Path) -> Vec<(String, String)> {
    let text = short_text(list).unwrap_or_default();
    let Ok(Value::Object(mut all)) = serde_json::from_str(&text) else {
        return Vec::new();
    };
    let Some(Value::Object(projects)) = all.remove("projects") else {
        return Vec::new();
    };
    let names = projects.into_iter().filter_map(|(path, name)| Some((path, name.as_str()?.to_owned())));
    names.collect()
}

/// Whether a name that a file gives leads into no other folder.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\0'])
}

/// Makes a folder that only its user may look into.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(no_folder)
}
