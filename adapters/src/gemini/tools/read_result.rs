//! Results: texts only. A stream shows what people see of them; what the model sees is in the program's own files.

use bumpalo::Bump;

use crate::json::Str;
use crate::tools::args::Read;
use crate::tools::lines::pieces;
use crate::tools::output::FileRead;
use crate::tools::table::Report;

/// A stream shows nothing of a file that was read, or which lines of it were: that is not its text.
pub(super) fn file<'a>(read: &Read<'a>, text: Str<'a>, _: &'a Bump) -> Option<FileRead<'a>> {
    let body = text.as_escaped();
    let notice = [
        "Read lines ",
        "Read image file",
        "IMPORTANT: The file content has been truncated",
        "Cannot display content",
    ];
    if body.is_empty() || notice.iter().any(|head| body.starts_with(head)) {
        return None;
    }
    Some(FileRead::of(read, text, read.start.unwrap_or(1)))
}

pub(super) fn created(text: &str) -> Option<bool> {
    if text.starts_with("Successfully created and wrote to new file") {
        return Some(true);
    }
    text.starts_with("Successfully overwrote file").then_some(false)
}

/// `Output: …`, then what there is to say of `Error`, `Exit Code`, `Signal`, `Background PIDs`, `Process Group PGID`; newer versions put
/// `<untrusted_context>` around it.
pub(in crate::gemini) fn report(text: Str<'_>) -> Option<Report<'_>> {
    let body = text.as_escaped();
    let body = body.strip_prefix("<untrusted_context>\\n").unwrap_or(body);
    let body = body.strip_suffix("\\n</untrusted_context>").unwrap_or(body);
    if !body.starts_with(OUTPUT) {
        return None;
    }
    // Output may hold anything; what is said behind it stands at the end.
    let (mut end, mut code) = (body.len(), None);
    let all: Vec<_> = pieces(Str::trusted(body)).collect();
    for piece in all.iter().rev() {
        let Some(label) = LABELS.iter().find(|label| piece.text.starts_with(**label)) else {
            break;
        };
        if *label == EXIT_CODE {
            code = piece.text[label.len()..].parse().ok();
        }
        end = piece.at;
    }
    // The line end before the first label.
    let printed = body[OUTPUT.len()..end.max(OUTPUT.len())].strip_suffix("\\n").filter(|_| end < body.len());
    let printed = printed.unwrap_or(&body[OUTPUT.len()..end.max(OUTPUT.len())]);
    let printed = if printed == "(empty)" { "" } else { printed };
    // The code is said only of a command that failed.
    (end < body.len()).then(|| (Str::trusted(printed), Str::EMPTY, code.or(Some(0))))
}

const OUTPUT: &str = "Output: ";
const EXIT_CODE: &str = "Exit Code: ";
const LABELS: [&str; 5] = ["Error: ", EXIT_CODE, "Signal: ", "Background PIDs: ", "Process Group PGID: "];
