//! Members that only OpenCode's lines have.

use crate::names::Names;

/// They ride in the events' fields; sorted by name.
pub(crate) const KNOWN: &[(&str, &str)] = &[
    ("attachments", "of a call: files that came with its result"),
    ("cost", "step_finish: US dollars of the round"),
    ("data", "error: what is known of it, where that has no message"),
    ("id", "of a part: its id, `prt_…`"),
    ("isRetryable", "of an API's error: whether it may be tried again"),
    ("line", "bus: the event as it stands, for it says much that has no place elsewhere"),
    ("messageID", "of a part: its reply's id, where that is not the one of its round"),
    (
        "metadata",
        "of a part: what the model's vendor says of it; of an error: the address that was asked",
    ),
    ("name", "error: `APIError`, `UnknownError`, `ContentFilterError` …"),
    ("ref", "error: under which number the server's log has it"),
    ("rejected", "done: permissions that were asked for and refused"),
    ("responseBody", "of an API's error: what it answered"),
    ("responseHeaders", "of an API's error: the headers of its answer"),
    ("sessionID", "of a part: its session, where that is another one than its line's"),
    ("snapshot", "step_start, step_finish: the state of the files, as a hash of git's"),
    ("status", "of a call without a result: `pending` or `running`"),
    ("statusCode", "of an API's error: its HTTP status"),
    ("synthetic", "of a text: the program wrote it, not the model"),
    ("time", "of a part, and of a call's state: when it began and ended, in milliseconds"),
    ("title", "of a call: what people see of it"),
    ("tokens", "step_finish: the tokens of the round"),
];

static NAMES: Names = Names::of(KNOWN);

/// Whether the page names a member.
pub(crate) fn knows(name: &str) -> bool {
    NAMES.has(name)
}
