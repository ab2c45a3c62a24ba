//! What a project and its user want every agent to know: `AGENTS.md` and what vendors call it besides.

use std::path::{Path, PathBuf};

use crate::permissions::Source;
use crate::permissions::place::Place;
use crate::settings::Places;
use crate::workspace::ReadRules;

/// So much of one file is taken, and of all together, in bytes.
const FILE: usize = 64 * 1024;
const ALL: usize = 256 * 1024;
/// So deep may files name files.
const DEEPEST: usize = 5;

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Where it lies.
    pub path: PathBuf,
    /// Whose it is.
    pub source: Source,
    /// Its text, with what it names by `@path` behind it.
    pub text: String,
}

/// What a vendor calls such files.
#[derive(Debug)]
pub struct MemoryFiles {
    /// In a project's folders: the first of them that is there. The user's own has the first name, and so has the one that is written.
    pub names: &'static [&'static str],
    /// In the working folder, for the user alone.
    pub local: Option<&'static str>,
}

impl MemoryFiles {
    /// Those of a vendor that has none for the user alone.
    pub const fn named(names: &'static [&'static str]) -> Self {
        Self { names, local: None }
    }
}

/// The files that count for a session: the user's, then those of the folders from the top of the project down to the working folder. The
/// second part says what was skipped and why.
pub fn load(files: Option<&MemoryFiles>, places: &Places, rules: &ReadRules) -> (Vec<Memory>, Vec<String>) {
    let Some(MemoryFiles { names, local }) = files.filter(|_| places.add) else {
        return (Vec::new(), Vec::new());
    };
    let mut reader = Reader {
        rules: rules.clone(),
        home: places.home.clone(),
        left: ALL,
        problems: Vec::new(),
        owners: None,
    };
    let mut found = Vec::new();
    if let Some(config) = places.config.as_ref().filter(|_| places.sources.contains(&Source::User)) {
        let allowed = [real(config)];
        found.extend(reader.first(config, &names[..1], Source::User, &allowed));
    }
    if places.sources.contains(&Source::Project) {
        let owners = Owners::of(&places.root);
        let folders = folders(&places.root, places.home.as_deref(), &owners);
        reader.owners = Some(owners);
        let allowed: Vec<PathBuf> = folders.first().map(|top| vec![real(top)]).unwrap_or_default();
        for folder in &folders {
            // A folder's own words are said once, under whichever name it has them.
            found.extend(reader.first(folder, names, Source::Project, &allowed));
        }
    }
    reader.owners = None;
    if let Some(local) = local.filter(|_| places.sources.contains(&Source::Local)) {
        let allowed = [real(&places.root)];
        found.extend(reader.first(&places.root, &[local], Source::Local, &allowed));
    }
    (found, reader.problems)
}

/// What the model is told of them.
pub fn prompt(memories: &[Memory]) -> Option<String> {
    if memories.is_empty() {
        return None;
    }
    let mut text = String::from("Instructions of the user and of the project. They hold for everything that you do here.");
    for memory in memories {
        let whose = match memory.source {
            Source::User => "the user's own, for all projects",
            Source::Local => "the user's own, for this project",
            _ => "the project's",
        };
        text.push_str(&format!("\n\nContents of {} ({whose}):\n\n{}", memory.path.display(), memory.text.trim()));
    }
    Some(text)
}

/// Whose files speak for a project: its own, ours, root's. In a folder such as `/tmp` anybody may lay a repository around those of others.
#[derive(Clone, Copy, Debug)]
struct Owners([u32; 3]);

impl Owners {
    fn of(root: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        let ours = rustix::process::geteuid().as_raw();
        // A folder that all may write to is nobody's.
        let own = root.metadata().ok().filter(|about| about.mode() & 0o002 == 0).map(|about| about.uid());
        Self([ours, 0, own.unwrap_or(ours)])
    }

    fn have(self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        path.symlink_metadata().is_ok_and(|about| self.0.contains(&about.uid()))
    }
}

/// From the top of the repository down to the working folder; the working folder alone where there is no repository.
fn folders(root: &Path, home: Option<&Path>, owners: &Owners) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for folder in root.ancestors() {
        if home == Some(folder) && folder != root {
            break;
        }
        folders.push(folder.to_owned());
        let git = folder.join(".git");
        if git.exists() && (folder == root || owners.have(&git)) {
            folders.reverse();
            return folders;
        }
    }
    vec![root.to_owned()]
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

struct Reader {
    rules: ReadRules,
    home: Option<PathBuf>,
    /// Bytes that may still come.
    left: usize,
    /// Whose files count; anybody's if this is `None`.
    owners: Option<Owners>,
    problems: Vec<String>,
}

impl Reader {
    /// The first of these files that is there.
    fn first(&mut self, folder: &Path, names: &[&str], source: Source, allowed: &[PathBuf]) -> Option<Memory> {
        for name in names {
            let path = folder.join(name);
            let place = Place::of(&path.display().to_string(), folder, None);
            if !path.is_file() {
                continue;
            }
            if !place.is_in(allowed) {
                self.problems.push(format!("{} leads out of its folder and is skipped", path.display()));
                continue;
            }
            if self.owners.is_some_and(|owners| !owners.have(&place.real)) {
                self.problems.push(format!("{} belongs to another user and is skipped", path.display()));
                continue;
            }
            let mut text = String::new();
            let mut seen = Vec::new();
            self.add(&place.real, allowed, 0, &mut seen, &mut text);
            if !text.trim().is_empty() {
                return Some(Memory { path, source, text });
            }
        }
        None
    }

    /// Adds a file, and behind it what it names.
    fn add(&mut self, path: &Path, allowed: &[PathBuf], depth: usize, seen: &mut Vec<PathBuf>, into: &mut String) {
        if seen.iter().any(|known| known == path) {
            return;
        }
        seen.push(path.to_owned());
        let Some(text) = self.read(path) else { return };
        into.push_str(&text);
        if depth >= DEEPEST {
            if imports(&text).next().is_some() {
                self.problems.push(format!("{} names files too deeply; they are skipped", path.display()));
            }
            return;
        }
        let folder = path.parent().unwrap_or(path).to_owned();
        for name in imports(&text) {
            let place = Place::of(&name, &folder, self.home.as_deref());
            if !place.real.is_file() {
                continue;
            }
            if !place.is_in(allowed) {
                self.problems
                    .push(format!("{} names {name}, which is not in its folder; it is skipped", path.display()));
                continue;
            }
            if seen.contains(&place.real) {
                continue;
            }
            into.push_str(&format!("\n\nContents of {}:\n\n", place.written.display()));
            self.add(&place.real, allowed, depth + 1, seen, into);
        }
    }

    fn read(&mut self, path: &Path) -> Option<String> {
        use std::io::Read;
        let mut bytes = Vec::new();
        let limit = FILE.min(self.left);
        let opened = self.rules.open(path).map_err(|fault| fault.to_string());
        let read = opened.and_then(|(file, _)| file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.to_string()));
        if let Err(why) = read {
            self.problems.push(format!("{} cannot be read: {why}", path.display()));
            return None;
        }
        let cut = bytes.len() > limit;
        bytes.truncate(limit);
        self.left -= bytes.len();
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if cut {
            self.problems.push(format!("{} is cut after {limit} bytes", path.display()));
            text.push_str("\n[cut here: the file is too long]\n");
        }
        Some(text)
    }
}

/// The paths that a text names by `@path`, outside of code.
fn imports(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut fenced = false;
    text.lines().flat_map(move |line| {
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        fenced ^= fence;
        let plain = if fenced || fence {
            String::new()
        } else {
            line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
        };
        let names: Vec<String> = plain
            .split_whitespace()
            .filter_map(|word| word.strip_prefix('@'))
            .map(|name| name.trim_end_matches([',', ';', ':', ')']).trim_end_matches('.').to_owned())
            .filter(|name| !name.is_empty() && !name.starts_with('@') && name.starts_with(|c: char| c.is_alphanumeric() || "./~_".contains(c)))
            .collect();
        names
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::persona::claude::CLAUDE;
    use crate::persona::qwen::CODE;
    use agentglot_adapters::raw::codec::Dialect;
    use agentglot_adapters::raw::launch::Launch;

    #[test]
    fn files_are_read_from_the_user_down_to_the_working_folder() {
        let room = tempfile::tempdir().unwrap();
        let root = room.path().canonicalize().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("home/.claude/CLAUDE.md", "of the user");
        put("home/CLAUDE.md", "above everything");
        put("home/repo/.git/HEAD", "x");
        put(
            "home/repo/CLAUDE.md",
            "top, see @docs/a.md and `@docs/no.md` and @../../secret and @missing.md\n```\n@docs/no.md\n```",
        );
        put("home/repo/AGENTS.md", "not said twice");
        put("home/repo/docs/a.md", "of a, and @a.md and @b.md.");
        put("home/repo/docs/b.md", "of b, and @../CLAUDE.md");
        put("home/repo/docs/no.md", "never");
        put("home/repo/sub/AGENTS.md", "of sub");
        put("home/repo/sub/CLAUDE.local.md", "mine");
        put("secret", "secret");
        let launch = |sources: Option<&[&str]>| Launch {
            setting_sources: sources.map(|names| names.iter().map(ToString::to_string).collect()),
            ..Launch::new(Dialect::Claude)
        };
        let home = root.join("home").into_os_string();
        let places = |sources| {
            Places::of(&launch(sources), CLAUDE.settings, &root.join("home/repo/sub"), &|_| false, &|name| {
                (name == "HOME").then(|| home.clone())
            })
        };
        let (memories, problems) = load(CLAUDE.memory, &places(None), &ReadRules::default());
        let texts: Vec<&str> = memories.iter().map(|memory| memory.text.lines().next().unwrap()).collect();
        assert_eq!(texts.len(), 4, "{texts:?}");
        assert_eq!((texts[0], texts[2], texts[3]), ("of the user", "of sub", "mine"));
        let top = &memories[1].text;
        assert!(
            top.contains("of a, and") && top.contains("of b, and") && !top.contains("never") && !top.contains("secret\n"),
            "{top}"
        );
        assert_eq!(top.matches("top, see").count(), 1);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("../../secret"), "{problems:?}");
        assert!(prompt(&memories).unwrap().contains("of sub") && prompt(&[]).is_none());
        assert_eq!(load(CLAUDE.memory, &places(Some(&[])), &ReadRules::default()).0, []);
        assert_eq!(load(CLAUDE.memory, &places(Some(&["user"])), &ReadRules::default()).0.len(), 1);
    }

    #[test]
    fn nobody_else_speaks_for_a_project() {
        use std::os::unix::fs::{PermissionsExt, chown};
        let room = tempfile::tempdir().unwrap();
        let top = room.path().canonicalize().unwrap().join("tmp");
        let root = top.join("mine");
        for folder in [top.join(".git"), root.clone()] {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::write(top.join("CLAUDE.md"), "from above").unwrap();
        std::fs::write(root.join("CLAUDE.md"), "mine").unwrap();
        let read = || {
            let places = Places::of(&Launch::new(Dialect::Claude), CLAUDE.settings, &root, &|_| false, &|_| None);
            let (memories, _) = load(CLAUDE.memory, &places, &ReadRules::default());
            memories.iter().map(|memory| memory.text.trim().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(read(), ["from above", "mine"]);
        // Only root can give files away.
        if chown(top.join(".git"), Some(4321), None).is_err() {
            return;
        }
        assert_eq!(read(), ["mine"]);
        chown(top.join(".git"), Some(0), None).unwrap();
        chown(top.join("CLAUDE.md"), Some(4321), None).unwrap();
        assert_eq!(read(), ["mine"]);
        // A clone that is another user's as a whole is that user's project.
        for path in [top.join(".git"), root.clone(), root.join("CLAUDE.md")] {
            chown(path, Some(4321), None).unwrap();
        }
        assert_eq!(read(), ["from above", "mine"]);
        std::fs::set_permissions(&root, std::fs::Permissions::from_mode(0o1777)).unwrap();
        assert_eq!(read(), Vec::<String>::new());
    }

    #[test]
    fn a_long_file_is_cut_and_a_link_that_leads_out_is_skipped() {
        let room = tempfile::tempdir().unwrap();
        let root = room.path().canonicalize().unwrap().join("w");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(root.join("QWEN.md"), "ü".repeat(FILE)).unwrap();
        let places = Places::of(&Launch::new(Dialect::QwenCode), CODE.settings, &root, &|_| false, &|_| None);
        let (memories, problems) = load(CODE.memory, &places, &ReadRules::default());
        assert!(memories[0].text.len() < FILE + 100 && problems.len() == 1);
        std::fs::remove_file(root.join("QWEN.md")).unwrap();
        std::fs::write(room.path().join("out.md"), "out").unwrap();
        std::os::unix::fs::symlink("../out.md", root.join("QWEN.md")).unwrap();
        let (memories, problems) = load(CODE.memory, &places, &ReadRules::default());
        assert!(memories.is_empty() && problems[0].contains("leads out"), "{problems:?}");
    }
}
