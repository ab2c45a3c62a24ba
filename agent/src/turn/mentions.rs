//! `@path` in what the user writes: files, folders and globs, read into the prompt.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::host::prompts::{Attached, HostPrompt};
use crate::model::message::Part;
use crate::tools::glob::{self, Order};
use crate::tools::ignored::rules;
use crate::tools::walk::Tree;
use crate::turn::context::Context;
use crate::workspace::{Fault, Kind, Wall};

/// So much of a file is read, and so much of all together, in bytes; so many files does a folder or a glob stand for.
const FILE: usize = 256 << 10;
const ALL: usize = 1 << 20;
const FILES: usize = 100;

/// Something that is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// As it stands in the text, with the `@`.
    pub original: String,
    /// The path.
    pub path: String,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// What the model is told.
    pub text: String,
    /// What was read: as it was named, and where it lies.
    pub read: Vec<(String, String)>,
    /// The files that were read as text.
    pub files: Vec<Attached>,
    /// What was not: as it was named, and why.
    pub skipped: Vec<(String, String)>,
}

impl Found {
    /// What was read, as the RFC writes references.
    pub(crate) fn references(&self) -> Value {
        self.read
            .iter()
            .map(|(original, resolved)| json!({"original": original, "resolved": resolved}))
            .collect()
    }

    /// The RFC's result, before the turn goes on.
    pub(crate) fn result(&self) -> Value {
        let mut result = json!({"type": "handled", "status": "ok"});
        if !self.skipped.is_empty() {
            result["skipped"] = self
                .skipped
                .iter()
                .map(|(original, why)| json!({"original": original, "reason": why}))
                .collect();
        }
        result
    }
}

/// Adds what the host's own text names by `@path`.
pub(crate) async fn expand(context: &Rc<Context>, asked: &mut HostPrompt) -> Found {
    let texts: Vec<String> = asked.parts[asked.notices.min(asked.parts.len())..]
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.clone()),
            _ => None,
        })
        .collect();
    let references: Vec<Reference> = texts.iter().flat_map(|text| references(text)).collect();
    expand_with(context, asked, references).await
}

/// Adds what is named so.
pub(crate) async fn expand_with(context: &Rc<Context>, asked: &mut HostPrompt, references: Vec<Reference>) -> Found {
    if references.is_empty() {
        return Found::default();
    }
    let (wall, cancel) = (context.world.wall.clone(), context.turns.cancel());
    let anywhere = context.persona.commands.reads_any_file;
    let found = tokio::task::spawn_blocking(move || read(&wall, &references, anywhere, &cancel)).await;
    let found = found.unwrap_or_default();
    asked.files.extend(found.files.iter().cloned());
    if !found.text.is_empty() {
        asked.parts.push(Part::Text(found.text.clone()));
    }
    found
}

/// The paths that a text names by an unescaped `@` at the beginning of a word. Blanks in them are escaped.
pub(crate) fn references(text: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut before = ' ';
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        let begins = c == '@' && (before.is_whitespace() || "([{<,;:\"'`".contains(before));
        before = c;
        if !begins {
            continue;
        }
        let mut path = String::new();
        let mut end = start + 1;
        while let Some(&(at, c)) = chars.peek() {
            if c == '\\' {
                chars.next();
                if let Some((at, c)) = chars.next() {
                    path.push(c);
                    end = at + c.len_utf8();
                }
                continue;
            }
            if c.is_whitespace() || ",;!()[]<>\"'`".contains(c) {
                break;
            }
            chars.next();
            path.push(c);
            end = at + c.len_utf8();
        }
        // What ends a sentence is no part of a path.
        while path.ends_with(['.', '?', ':']) && path.len() > 1 && !path.ends_with("..") {
            path.pop();
            end -= 1;
        }
        before = text[..end].chars().next_back().unwrap_or(' ');
        if !path.is_empty() && path != "@" {
            found.push(Reference {
                original: text[start..end].to_owned(),
                path,
            });
        }
    }
    found
}

/// Reads what is named. Words that name nothing are left to the text. `anywhere`: whoever writes the text may name files outside of the
/// workspace by their whole path.
pub(crate) fn read(wall: &Wall, references: &[Reference], anywhere: bool, cancel: &CancellationToken) -> Found {
    let mut found = Found::default();
    let mut body = String::new();
    for reference in references {
        if cancel.is_cancelled() || found.read.iter().any(|(original, _)| *original == reference.original) {
            continue;
        }
        let outside = Path::new(&reference.path);
        if anywhere && outside.is_absolute() && !outside.starts_with(wall.root()) && outside.is_file() {
            found.read.push((reference.original.clone(), reference.path.clone()));
            let open = wall.read_rules().open(outside).map(|(open, about)| (open, about.len()));
            add(&reference.path, outside, open, &mut body, &mut found.files);
            continue;
        }
        match files(wall, &reference.path, cancel) {
            Ok(None) => {}
            Err(why) => found.skipped.push((reference.original.clone(), why)),
            Ok(Some((resolved, files))) => {
                found.read.push((reference.original.clone(), resolved));
                for file in files {
                    let shown = wall.shown(&file).display().to_string();
                    let open = wall.locate(&file).and_then(|place| place.open()).map(|(open, stat)| (open, stat.size));
                    add(&shown, &file, open, &mut body, &mut found.files);
                }
            }
        }
    }
    if !body.is_empty() {
        found.text = format!("\n--- Content from referenced files ---{body}\n--- End of content ---");
    }
    found
}

/// The files that a path stands for, and the path itself. `None` if there is nothing of that name.
type Files = Option<(String, Vec<PathBuf>)>;

fn files(wall: &Wall, path: &str, cancel: &CancellationToken) -> Result<Files, String> {
    let say = |fault: Fault| fault.to_string();
    let many = |pattern: String| {
        let asked = glob::Asked {
            pattern,
            names: false,
            any_case: false,
            tree: Tree::default(),
            order: Order::Path,
            most: FILES,
        };
        let root = wall.locate(wall.root()).map_err(say)?;
        glob::glob(wall, &root, &asked, cancel).map(|found| found.files).map_err(say)
    };
    let place = wall.locate(path);
    let stat = place.as_ref().ok().and_then(|place| place.stat_if_there().ok().flatten());
    match (place, stat) {
        (_, None) if path.contains(['*', '?']) => {
            let files = many(path.to_owned())?;
            Ok((!files.is_empty()).then(|| (path.to_owned(), files)))
        }
        (Err(Fault::Missing(_)), _) | (Ok(_), None) => Ok(None),
        (Err(fault), _) => Err(fault.to_string()),
        (Ok(place), Some(stat)) => {
            let shown = wall.shown(place.path()).display().to_string();
            match stat.kind {
                Kind::Folder => {
                    let inside = if shown == "." { "**".to_owned() } else { format!("{shown}/**") };
                    Ok(Some((format!("{}/", shown.trim_end_matches('/')), many(inside)?)))
                }
                Kind::File if is_ignored(wall.root(), place.path()) => Err(format!("{shown} is ignored by the rules of the project")),
                Kind::File => Ok(Some((shown, vec![place.path().to_owned()]))),
                _ => Err(format!("{shown} is no regular file")),
            }
        }
    }
}

/// Whether `.gitignore` and its like leave a file out: the rules of its own folder come before those above.
fn is_ignored(root: &Path, file: &Path) -> bool {
    let folders = file.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    for folder in folders {
        let names = [".gitignore", ".ignore"].into_iter().chain(crate::persona::ignore_files());
        let rules = rules(folder, &names.map(|name| folder.join(name)).collect::<Vec<_>>());
        let Ok(inside) = file.strip_prefix(folder) else { continue };
        let matched = rules.matched_path_or_any_parents(inside, false);
        if !matched.is_none() {
            return matched.is_ignore();
        }
    }
    false
}

fn add(shown: &str, path: &Path, open: Result<(File, u64), Fault>, body: &mut String, files: &mut Vec<Attached>) {
    if body.len() >= ALL {
        if !body.ends_with(MORE) {
            body.push_str(MORE);
        }
        return;
    }
    let most = FILE.min(ALL - body.len());
    let (mut bytes, size) = match open {
        Ok((open, size)) => {
            let mut bytes = Vec::new();
            let _ = open.take(most as u64).read_to_end(&mut bytes);
            (bytes, size)
        }
        Err(fault) => return body.push_str(&format!("\nContent from @{shown}:\n[cannot be read: {fault}]")),
    };
    let cut = size > bytes.len() as u64;
    if cut
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => {
            body.push_str(&format!("\nContent from @{shown}:\n{text}"));
            if cut {
                body.push_str(&format!("\n[cut: the first {} of {size} bytes]", text.len()));
            }
            files.push(Attached {
                path: path.to_owned(),
                shown: shown.to_owned(),
                text,
            });
        }
        _ => body.push_str(&format!("\nContent from @{shown}:\n[a binary file of {size} bytes, which is not shown]")),
    }
}

const MORE: &str = "\n[More files are named than can be shown.]";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_texts() {
        let all = |text: &str| references(text).into_iter().map(|one| one.path).collect::<Vec<_>>();
        assert_eq!(all("look at @src/main.rs, and (@a\\ b.txt)."), ["src/main.rs", "a b.txt"]);
        assert_eq!(all("mail me@home.org or \\@this, @ that @*.rs."), ["*.rs"]);
        assert_eq!(all("@.. @lib/ @x?"), ["..", "lib/", "x"]);
        assert_eq!(references("see @a\\ b!")[0].original, "@a\\ b");
    }

    #[test]
    fn files_folders_globs_are_read_and_what_may_not_be_is_not() {
        let room = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = room.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        };
        write("work/a b.txt", b"blank");
        write("work/src/one.rs", b"fn one");
        write("work/src/two.rs", b"fn two");
        write("work/pic.bin", b"\x00\x01\xff");
        write("work/secret.env", b"hidden words");
        write("work/.gitignore", b"*.env\nout/\n");
        write("work/out/made.rs", b"made");
        write("work/big.txt", "x".repeat(FILE + 9).as_bytes());
        write("outside.txt", b"not yours");
        std::fs::create_dir(room.path().join("work/.git")).unwrap();
        let wall = Wall::new(&room.path().join("work")).unwrap();
        let from = |text: &str, anywhere| read(&wall, &references(text), anywhere, &CancellationToken::new());
        let read = |text: &str| from(text, false);
        assert!(read("@a\\ b.txt").text.contains("Content from @a b.txt:\nblank"));
        let folder = read("@src");
        assert!(folder.text.contains("fn one") && folder.text.contains("fn two"), "{folder:?}");
        assert_eq!(folder.read, [("@src".to_owned(), "src/".to_owned())]);
        assert!(read("@src/t*.rs").text.contains("fn two"));
        let binary = read("@pic.bin").text;
        assert!(binary.contains("a binary file of 3 bytes"), "{binary}");
        for (named, why) in [("@secret.env", "ignored"), ("@out/made.rs", "ignored"), ("@../outside.txt", "outside")] {
            let found = read(named);
            assert!(found.text.is_empty() && found.skipped[0].1.contains(why), "{named}: {found:?}");
        }
        // The whole path of a file outside is as good as the file, to whom it is allowed; a relative one is not.
        let outside = room.path().join("outside.txt").display().to_string();
        assert!(read(&format!("@{outside}")).skipped[0].1.contains("outside"));
        let found = from(&format!("see @{outside}"), true);
        assert_eq!(
            (found.files[0].text.as_str(), found.files[0].path.display().to_string()),
            ("not yours", outside)
        );
        assert!(found.text.contains("not yours") && from("@../outside.txt", true).files.is_empty());
        assert!(from("@/dev/zero", true).files.is_empty());
        let big = read("@big.txt").text;
        assert!(big.len() < FILE + 200 && big.contains("[cut: the first"), "{}", big.len());
        assert_eq!(read("ask @someone"), Found::default());
    }
}
