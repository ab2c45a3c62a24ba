//! The questions that Tricode asks a person: plain text on its standard output between a call and its result, answered by a
//! choice on its standard input. They are no lines of the protocol, and the next line is glued to them.
//!
//! Whatever a tool prints can look like one, so a question is one only where the program itself asks: right behind the line of a
//! call whose tool needs permission, in exactly its words, and once a call.

use super::repr;
use crate::conduct::{Choice, TextQuestion, TextQuestions};
use crate::event::Fields;
use crate::json::{Raw, Str};

/// The tools that need permission.
const ASKING: [&str; 9] = [
    "create_file",
    "edit_file",
    "run_command",
    "start_session",
    "send_input",
    "close_session",
    "delete_file",
    "delete_path",
    "mkdir",
];

const RULE: &str = "============================================================";
const TITLE: &str = "⚠️  DESTRUCTIVE OPERATION REQUESTED";
const OPTIONS: &str = "============================================================\n\
    Options:\n  \
    1 - Allow this operation (once)\n  \
    2 - Allow all future operations of this type in this session\n  \
    3 - Deny and continue (do not run this tool)\n  \
    4 - Deny and terminate agent\n\
    ============================================================\n";
const CHOICE: &str = "Your choice [1/2/3/4]: ";

/// How the line of a call begins.
const CALL: &[u8] = b"{\"type\": \"tool_call\", \"name\": \"";

/// So much of a line is kept to see whether it is a call, and of what.
const HEAD: usize = 256;

/// Longer questions there are not: the program cuts each argument after 200 characters, and the preview of a change after as many
/// lines.
const LONGEST: usize = 4 << 20;

/// So many characters of an argument are shown.
const SHOWN: usize = 200;

/// Takes the questions out of what the program prints.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// What has come and was not given on.
    kept: Vec<u8>,
    /// The beginning of a call in the line that is being printed, or what may become one.
    head: Vec<u8>,
    /// The tool whose question may follow.
    tool: Option<String>,
    /// So much of what is kept was searched for the end of a question.
    searched: usize,
}

impl TextQuestions for Questions {
    fn feed(&mut self, bytes: &[u8], lines: &mut Vec<u8>) -> Option<TextQuestion> {
        self.kept.extend_from_slice(bytes);
        let mut at = 0;
        let found = loop {
            if let Some(tool) = &self.tool {
                match question(&self.kept[at..], tool, self.searched) {
                    Found::Whole(len) => {
                        let text = self.kept[at..at + len].to_vec();
                        at += len;
                        self.searched = 0;
                        break self.tool.take().map(|tool| TextQuestion { tool, text });
                    }
                    Found::Perhaps => {
                        self.searched = self.kept.len() - at;
                        break None;
                    }
                    Found::No => (self.tool, self.searched) = (None, 0),
                }
            }
            let rest = &self.kept[at..];
            let end = memchr::memchr(b'\n', rest).map(|end| end + 1);
            let line = &rest[..end.unwrap_or(rest.len())];
            look_for_call(&mut self.head, line);
            lines.extend_from_slice(line);
            at += line.len();
            if end.is_none() {
                break None;
            }
            self.tool = called(&self.head);
            self.head.clear();
        };
        self.kept.drain(..at);
        found
    }

    fn finish(&mut self, lines: &mut Vec<u8>) {
        lines.append(&mut self.kept);
        *self = Self::default();
    }
}

/// What was typed. `None`: the program asks again.
pub(super) fn read(typed: &str) -> Option<Choice> {
    match typed.trim() {
        "1" => Some(Choice::Once),
        "2" => Some(Choice::Always),
        "3" => Some(Choice::Deny),
        "4" => Some(Choice::Stop),
        _ => None,
    }
}

/// What is to be typed.
pub(super) const fn typed(choice: Choice) -> &'static str {
    match choice {
        Choice::Once => "1\n",
        Choice::Always => "2\n",
        Choice::Deny => "3\n",
        Choice::Stop => "4\n",
    }
}

/// What the program prints when something else was typed.
pub(super) const AGAIN: &str = "Invalid choice. Please enter 1, 2, 3, or 4.\nYour choice [1/2/3/4]: ";
/// What it prints when nothing can be typed any more.
pub(super) const CLOSED: &str = "\nOperation cancelled by user.\n";

/// So many lines of a preview are shown.
const LINES: usize = 200;

/// Prints a question. The preview is what an edit would change, as a diff, where the agent tells it: it needs the file.
pub(super) fn write(tool: Str<'_>, arguments: Option<Raw<'_>>, preview: Option<Str<'_>>, to: &mut String) {
    to.push_str(&format!("\n{RULE}\n{TITLE}\n{RULE}\nTool: {}\nArguments:\n", tool.unescape()));
    let mut body = Vec::new();
    for (key, value) in arguments.into_iter().flat_map(Raw::members) {
        body.clear();
        repr::paste(value, &mut body);
        let body = String::from_utf8_lossy(&body);
        let shown = Str::trusted(&body).unescape();
        let cut = shown.char_indices().nth(SHOWN).map(|(at, _)| &shown[..at]);
        to.push_str(&format!("  {}: {}", key.unescape(), cut.unwrap_or(&shown)));
        to.push_str(if cut.is_some() { "...\n" } else { "\n" });
    }
    if let Some(preview) = preview.map(Str::unescape).filter(|preview| !preview.is_empty()) {
        to.push_str("\n--- Diff Preview (dry-run) ---\n");
        for line in preview.lines().take(LINES) {
            to.push_str(line);
            to.push('\n');
        }
        let more = preview.lines().count().saturating_sub(LINES);
        if more > 0 {
            to.push_str(&format!("... {more} more lines omitted ...\n"));
        }
        to.push_str("--- End Diff Preview ---\n\n");
    }
    to.push_str(OPTIONS);
    to.push_str(CHOICE);
}

/// The preview among the members of a question.
pub(super) fn preview<'a>(fields: Fields<'a>) -> Option<Str<'a>> {
    let found = fields.iter().find(|field| field.key.is("preview"));
    found.and_then(|field| field.value.string())
}

enum Found {
    /// So long.
    Whole(usize),
    Perhaps,
    No,
}

/// Whether the text begins with a question about this tool. `searched`: so much of it holds no end.
fn question(text: &[u8], tool: &str, searched: usize) -> Found {
    let tool = Str::trusted(tool).unescape();
    let beginning = format!("\n{RULE}\n{TITLE}\n{RULE}\nTool: {tool}\nArguments:\n");
    let beginning = beginning.as_bytes();
    let same = text.len().min(beginning.len());
    if text[..same] != beginning[..same] {
        return Found::No;
    }
    // The last line of the beginning may be the one before the options.
    let end = format!("\n{OPTIONS}{CHOICE}");
    let from = searched.saturating_sub(end.len()).max(beginning.len() - 1);
    let found = text.get(from..).and_then(|rest| memchr::memmem::find(rest, end.as_bytes()));
    match found {
        Some(at) => Found::Whole(from + at + end.len()),
        None if text.len() > LONGEST => Found::No,
        None => Found::Perhaps,
    }
}

/// Adds a piece of a line to what was kept of it: from where a call begins, which may be glued to other text, else the last bytes.
fn look_for_call(head: &mut Vec<u8>, piece: &[u8]) {
    if head.starts_with(CALL) {
        let room = HEAD.saturating_sub(head.len());
        return head.extend_from_slice(&piece[..piece.len().min(room)]);
    }
    head.extend_from_slice(piece);
    let found = memchr::memmem::find(head, CALL);
    head.drain(..found.unwrap_or_else(|| head.len().saturating_sub(CALL.len() - 1)));
    head.truncate(HEAD);
}

/// The tool that a line calls, if it needs permission.
fn called(line: &[u8]) -> Option<String> {
    let name = line.strip_prefix(CALL)?;
    let name = std::str::from_utf8(&name[..memchr::memchr(b'"', name)?]).ok()?;
    ASKING.contains(&name).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str =
        "{\"type\": \"tool_call\", \"name\": \"create_file\", \"arguments\": {\"path\": \"p\"}, \"formatted\": \"CREATE(\\\"p\\\")\"}\n";
    const RESULT: &str = "{\"type\": \"tool_result\", \"name\": \"create_file\", \"success\": true, \"result\": \"\", \"formatted\": \"\"}\n";

    fn asked(tool: &str, arguments: &str) -> String {
        let mut text = String::new();
        write(Str::trusted(tool), Some(Raw::trusted(arguments)), None, &mut text);
        text
    }

    /// The lines, and the questions with the number of lines' bytes before them.
    fn told(text: &str, size: usize) -> (String, Vec<(usize, TextQuestion)>) {
        let (mut questions, mut lines, mut found) = (Questions::default(), Vec::new(), Vec::new());
        for piece in text.as_bytes().chunks(size) {
            let mut next = questions.feed(piece, &mut lines);
            while let Some(question) = next {
                found.push((lines.len(), question));
                next = questions.feed(&[], &mut lines);
            }
        }
        questions.finish(&mut lines);
        (String::from_utf8(lines).unwrap(), found)
    }

    #[test]
    fn a_question_is_taken_out_wherever_it_is_cut() {
        let question = asked("create_file", "{\"path\":\"p.txt\",\"content\":\"x\"}");
        assert_eq!(question.lines().nth(6), Some("  path: p.txt"), "the words of the program: {question}");
        let text = format!("{LINE}{question}{RESULT}{LINE}{RESULT}{LINE}{question}{RESULT}");
        for size in [1, 2, 7, 64, 300, text.len()] {
            let (lines, found) = told(&text, size);
            assert_eq!(lines, format!("{LINE}{RESULT}{LINE}{RESULT}{LINE}{RESULT}"), "{size}");
            let places: Vec<usize> = found.iter().map(|(at, _)| *at).collect();
            assert_eq!(places, [LINE.len(), 3 * LINE.len() + 2 * RESULT.len()], "{size}");
            assert!(
                found
                    .iter()
                    .all(|(_, found)| found.tool == "create_file" && found.text == question.as_bytes())
            );
        }
    }

    #[test]
    fn a_question_about_an_edit_shows_what_would_change() {
        let shown = |lines: usize| {
            let mut text = String::new();
            let diff = "+x\\n".repeat(lines);
            write(
                Str::trusted("edit_file"),
                Some(Raw::trusted("{\"path\":\"p\"}")),
                Some(Str::trusted(&diff)),
                &mut text,
            );
            text
        };
        let little = format!("Arguments:\n  path: p\n\n--- Diff Preview (dry-run) ---\n+x\n--- End Diff Preview ---\n\n{RULE}\nOptions:\n");
        assert!(shown(1).contains(&little), "{}", shown(1));
        assert!(shown(203).contains("+x\n... 3 more lines omitted ...\n--- End"));
        let line = LINE.replace("create_file", "edit_file");
        let (lines, found) = told(&format!("{line}{}{RESULT}", shown(2)), 7);
        assert_eq!((lines, found.len()), (format!("{line}{RESULT}"), 1));
    }

    #[test]
    fn what_only_looks_like_a_question_is_none() {
        let question = asked("create_file", "{}");
        let other = LINE.replace("create_file", "read_file");
        for text in [
            // Before any call, behind a result, about another tool, of a tool that needs no permission, with other words.
            question.clone(),
            format!("{LINE}{RESULT}{question}"),
            format!("{LINE}{}{RESULT}", asked("run_command", "{}")),
            format!("{other}{}{RESULT}", asked("read_file", "{}")),
            format!("{LINE}{}{RESULT}", question.replace("Deny and continue", "Deny")),
            format!("{LINE}building\n{question}{RESULT}"),
            format!("{LINE}{}", question.trim_end()),
        ] {
            for size in [1, text.len()] {
                assert_eq!(told(&text, size), (text.clone(), Vec::new()), "{size}");
            }
        }
        // A call that is glued to something is one.
        for size in [1, 40, 4096] {
            let (lines, found) = told(&format!("{question}{LINE}{question}{RESULT}"), size);
            assert_eq!((lines, found.len()), (format!("{question}{LINE}{RESULT}"), 1));
        }
        // The tool runs by now, and prints what it likes.
        let (lines, found) = told(&format!("{LINE}{question}{question}{RESULT}"), 5);
        assert_eq!((lines, found.len()), (format!("{LINE}{question}{RESULT}"), 1));
    }

    #[test]
    fn long_arguments_are_cut_as_the_program_cuts_them() {
        let long = "é".repeat(201);
        let text = asked(
            "run_command",
            &format!("{{\"command\":\"{long}\",\"timeout\":30,\"deep\":{{\"a\":null}}}}"),
        );
        assert!(text.contains(&format!("  command: {}...\n", "é".repeat(200))), "{text}");
        assert!(text.contains("  timeout: 30\n  deep: {'a': None}\n====="), "{text}");
    }
}
