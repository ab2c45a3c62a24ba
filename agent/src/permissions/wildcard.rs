//! What rules say of commands, in their parentheses.

/// Whether what a rule says in its parentheses is about this one command.
pub(super) fn command_matches(content: &str, command: &str, begins_it: bool) -> bool {
    let content = content.trim();
    if let Some(start) = content.strip_suffix(":*") {
        // `curl:*` is command and arguments, `npm run test:*` a beginning: both are words that come first.
        return begins(command, start.trim_end());
    }
    if content.contains('*') {
        return wildcard(content, command);
    }
    if begins_it { begins(command, content) } else { command == content }
}

/// Whether a command begins with these words.
fn begins(command: &str, words: &str) -> bool {
    command.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// `*` is any text; one that ends a pattern after a blank may be nothing, blank included.
fn wildcard(pattern: &str, text: &str) -> bool {
    if let Some(start) = pattern.strip_suffix(" *")
        && !start.contains('*')
    {
        return begins(text, start);
    }
    if pattern.ends_with(" *") && wildcard_plain(pattern.trim_end_matches(" *"), text) {
        return true;
    }
    wildcard_plain(pattern, text)
}

fn wildcard_plain(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}
