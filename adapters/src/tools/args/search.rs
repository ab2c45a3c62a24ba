//! Searching: in files, for files, on the web.

use bumpalo::Bump;

use super::{Args, Grep};
use crate::json::{Raw, Str};
use crate::tools::Family;
use crate::tools::json::{Json, members, number, optional};

pub(super) fn grep<'a>(from: Family, input: Raw<'a>) -> Option<Args<'a>> {
    let [pattern, path, glob, file_type, multiline, offset] = members(input, ["pattern", "path", "glob", "type", "multiline", "offset"])?;
    let [mode, ignore_case, context, limit] = match from {
        Family::Claude => {
            let [mode, case, context, long, limit] = members(input, ["output_mode", "-i", "-C", "context", "head_limit"])?;
            [mode, case, context.or(long), limit]
        }
        Family::Cursor => members(input, ["outputMode", "caseInsensitive", "context", "headLimit"])?,
        Family::Qwen => {
            let [limit] = members(input, ["limit"])?;
            [None, None, None, limit]
        }
        Family::Tricode => [None; 4],
    };
    // `include` is the older name of Qwen's `glob`.
    let include = if from == Family::Qwen { members(input, ["include"])?[0] } else { None };
    Some(Args::Grep(Grep {
        pattern: pattern?.string()?,
        path: optional(path, Raw::string)?,
        glob: optional(glob.or(include), Raw::string)?,
        mode: optional(mode, Raw::string)?,
        ignore_case: optional(ignore_case, Raw::bool)?,
        context: optional(context, number)?,
        file_type: optional(file_type, Raw::string)?,
        limit: optional(limit, number)?,
        offset: optional(offset, number)?,
        multiline: optional(multiline, Raw::bool)?,
    }))
}

/// Claude's `-A`, `-B` and `-n` have no counterpart that is known; Qwen and Tricode search in one way only.
pub(super) fn write_grep<'a>(grep: Grep<'_>, to: Family, id: Str<'_>, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let mut json = Json::new(arena);
    json.mark('{').key("pattern").str(grep.pattern).maybe_str("path", grep.path);
    let name = match to {
        Family::Claude => {
            json.maybe_str("glob", grep.glob)
                .maybe_str("output_mode", grep.mode)
                .maybe_bool("-i", grep.ignore_case);
            json.maybe_raw("-C", grep.context)
                .maybe_str("type", grep.file_type)
                .maybe_raw("head_limit", grep.limit);
            json.maybe_raw("offset", grep.offset).maybe_bool("multiline", grep.multiline);
            "Grep"
        }
        Family::Qwen => {
            json.maybe_str("glob", grep.glob).maybe_raw("limit", grep.limit);
            "grep_search"
        }
        Family::Cursor => {
            json.maybe_str("glob", grep.glob)
                .maybe_str("outputMode", grep.mode)
                .maybe_raw("context", grep.context);
            json.maybe_bool("caseInsensitive", grep.ignore_case)
                .maybe_str("type", grep.file_type)
                .maybe_raw("headLimit", grep.limit);
            json.maybe_bool("multiline", grep.multiline)
                .key("toolCallId")
                .str(id)
                .maybe_raw("offset", grep.offset);
            "grepToolCall"
        }
        Family::Tricode => "search_context",
    };
    json.mark('}');
    Some((Str::trusted(name), json.done()))
}

pub(super) fn glob<'a>(from: Family, input: Raw<'a>) -> Option<Args<'a>> {
    let [pattern, path] = match from {
        Family::Cursor => {
            let [pattern, path, short, dir] = members(input, ["globPattern", "targetDirectory", "pattern", "path"])?;
            [pattern.or(short), path.or(dir)]
        }
        _ => members(input, ["pattern", "path"])?,
    };
    Some(Args::Glob {
        pattern: pattern?.string()?,
        path: optional(path, Raw::string)?,
    })
}

pub(super) fn write_glob<'a>(pattern: Str<'_>, path: Option<Str<'_>>, to: Family, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let mut json = Json::new(arena);
    json.mark('{');
    let name = match to {
        Family::Claude | Family::Qwen => {
            json.key("pattern").str(pattern).maybe_str("path", path);
            if to == Family::Claude { "Glob" } else { "glob" }
        }
        Family::Cursor => {
            json.maybe_str("targetDirectory", path).key("globPattern").str(pattern);
            "globToolCall"
        }
        Family::Tricode => return None,
    };
    json.mark('}');
    Some((Str::trusted(name), json.done()))
}

pub(super) fn fetch<'a>(input: Raw<'a>) -> Option<Args<'a>> {
    let [url, prompt] = members(input, ["url", "prompt"])?;
    Some(Args::Fetch {
        url: url?.string()?,
        prompt: optional(prompt, Raw::string)?,
    })
}

/// Only Claude and Qwen ask a question about the page.
pub(super) fn write_fetch<'a>(url: Str<'_>, prompt: Option<Str<'_>>, to: Family, id: Str<'_>, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let mut json = Json::new(arena);
    json.mark('{').key("url").str(url);
    let name = match to {
        Family::Claude | Family::Qwen => {
            json.maybe_str("prompt", prompt);
            if to == Family::Claude { "WebFetch" } else { "web_fetch" }
        }
        Family::Cursor => {
            json.key("toolCallId").str(id);
            "webFetchToolCall"
        }
        Family::Tricode => "fetch_url",
    };
    json.mark('}');
    Some((Str::trusted(name), json.done()))
}

pub(super) fn web_search<'a>(from: Family, input: Raw<'a>) -> Option<Args<'a>> {
    let [query, term] = members(input, ["query", "searchTerm"])?;
    let query = if from == Family::Cursor { term.or(query) } else { query };
    Some(Args::WebSearch { query: query?.string()? })
}

pub(super) fn write_web_search<'a>(query: Str<'_>, to: Family, id: Str<'_>, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let mut json = Json::new(arena);
    json.mark('{');
    let name = match to {
        Family::Claude => {
            json.key("query").str(query);
            "WebSearch"
        }
        Family::Qwen | Family::Tricode => {
            json.key("query").str(query);
            "web_search"
        }
        Family::Cursor => {
            json.key("searchTerm").str(query).key("toolCallId").str(id);
            "webSearchToolCall"
        }
    };
    json.mark('}');
    Some((Str::trusted(name), json.done()))
}
