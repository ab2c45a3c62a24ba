//! What an agent wants done by us: files that are read and written (`fs/*`), commands in terminals (`terminal/*`).
//!
//! The back end does it, or says that the host has to be asked first. It is asked in words of our own, of which it sees what will be done: the
//! agent's call of which this is a part may say anything. Where the host has just allowed such a call, this is it.

use std::collections::BTreeMap;
use std::mem::take;

use super::messages::{Dir, say, tell};
use super::permitted_calls::{Grants, harmless};
use crate::acp::rpc;
use crate::client::{Act, ClientCall, Done, Exchange, Exit, Start, Undone};
use crate::conduct::quoted;
use crate::json::{Raw, Str};
use crate::launch::PermissionMode;

/// So many of them may wait to be done at the same time.
const MOST: usize = 64;

/// A command as a question shows it is cut behind so many bytes.
const TITLE: usize = 200;

/// What is wanted and not done yet.
#[derive(Debug, Default)]
pub(super) struct ClientCalls {
    count: u64,
    open: BTreeMap<u64, Open>,
    /// What the host has allowed the agent to do.
    pub(super) grants: Grants,
    /// What the agent was last told that commands have written, by terminals.
    outputs: BTreeMap<String, String>,
}

#[derive(Debug)]
struct Open {
    /// The request's id as it was spelled.
    id: String,
    act: Act,
    asks: Asks,
}

/// Whether the host is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    No,
    Now,
    Allowed,
}

/// How questions about such calls are called.
const OURS: &str = "agentglot-";

/// What a question about a call of us is called, and the tool call that it is told as.
fn name(number: u64) -> String {
    format!("{OURS}{number}")
}

/// Whether this is the call, by the body of its id, that a call of us is told as.
pub(in super::super) fn is_client_call(call: &str) -> bool {
    call.strip_prefix(OURS).is_some_and(|number| number.parse::<u64>().is_ok())
}

/// Whether the id of a request could be taken for that of a question of ours: the host would answer one of them for the other.
pub(super) fn is_like_ours(id: &str) -> bool {
    plain(id.trim_matches('"')).starts_with(OURS)
}

/// What a request wants done; why it makes no sense, if that is so; `None` if it wants nothing of this kind.
pub(super) fn wanted(method: &str, params: Raw<'_>) -> Option<Result<Act, String>> {
    let text = |name: &str| {
        let text = params.get(name).and_then(Raw::string);
        text.map(|text| text.unescape().into_owned())
            .ok_or_else(|| format!("{method} wants a text `{name}`"))
    };
    let number = |name: &str| match params.get(name).filter(|value| !value.is_null()) {
        Some(value) => value
            .u64()
            .map(Some)
            .ok_or_else(|| format!("{method}: `{name}` is no number of that kind")),
        None => Ok(None),
    };
    let path = || {
        text("path").and_then(|path| match path.starts_with('/') {
            true => Ok(path),
            false => Err(format!("{method}: the path {path:?} is not absolute")),
        })
    };
    let terminal = || text("terminalId");
    Some(match method {
        "fs/read_text_file" => (|| {
            Ok(Act::Read {
                path: path()?,
                line: number("line")?,
                limit: number("limit")?,
            })
        })(),
        "fs/write_text_file" => (|| {
            Ok(Act::Write {
                path: path()?,
                content: text("content")?,
            })
        })(),
        "terminal/create" => text("command").and_then(|command| start(&command, params, number("outputByteLimit")?)),
        "terminal/output" => terminal().map(Act::Output),
        "terminal/wait_for_exit" => terminal().map(Act::Wait),
        "terminal/kill" => terminal().map(Act::Kill),
        "terminal/release" => terminal().map(Act::Release),
        _ => return None,
    })
}

fn start(command: &str, params: Raw<'_>, keep: Option<u64>) -> Result<Act, String> {
    let list = |name: &str| params.get(name).into_iter().flat_map(Raw::elements);
    let mut line = command.to_owned();
    let args: Option<Vec<String>> = list("args").map(|arg| Some(arg.string()?.unescape().into_owned())).collect();
    let args = args.ok_or("terminal/create: `args` are texts")?;
    if !args.is_empty() {
        // With arguments it is a program; without them agents write a line for a shell.
        line = shell_words(std::iter::once(command).chain(args.iter().map(String::as_str)));
    }
    let mut env = Vec::new();
    for variable in list("env") {
        let text = |name: &str| Some(variable.get(name)?.string()?.unescape().into_owned());
        let (Some(name), Some(value)) = (text("name"), text("value")) else {
            return Err("terminal/create: a variable of `env` has a name and a value".to_owned());
        };
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) || !name.chars().all(plain) || value.contains('\0') {
            return Err(format!("terminal/create: {name:?} cannot be set"));
        }
        env.push((name, value));
    }
    let told = env.iter().filter(|(name, _)| !harmless(name));
    let mut shown: String = told.map(|(name, value)| format!("{name}={} ", shell_word(value))).collect();
    shown.push_str(&line);
    let folder = params.get("cwd").and_then(Raw::string).map(|folder| folder.unescape().into_owned());
    if let Some(folder) = folder.as_ref().filter(|folder| !folder.starts_with('/')) {
        return Err(format!("terminal/create: the folder {folder:?} is not absolute"));
    }
    Ok(Act::Start(Start {
        command: line,
        shown,
        env,
        folder,
        keep,
    }))
}

/// Words as a shell reads them.
pub(super) fn shell_words<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(shell_word).collect::<Vec<_>>().join(" ")
}

fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

impl ClientCalls {
    /// The agent wants this done. `home`: the session's folder.
    pub(super) fn begin(&mut self, id: &str, act: Act, mode: PermissionMode, home: &str, exchange: &mut Exchange) {
        if self.open.values().any(|open| open.id == id) {
            return say(&rpc::error(id, -32600, "a request of this id waits for its answer"), exchange);
        }
        if self.open.len() >= MOST {
            return say(
                &rpc::error(id, -32603, &format!("{MOST} requests wait for their answers already")),
                exchange,
            );
        }
        self.count += 1;
        let permitted = self.grants.cover(&act, home);
        exchange.client_calls.push(ClientCall {
            number: self.count,
            act: act.clone(),
            permitted,
            mode,
        });
        let id = id.to_owned();
        self.open.insert(self.count, Open { id, act, asks: Asks::No });
    }

    /// The agent speaks of a call. Of one that is over and shows terminals of ours, the session is told what they have shown: nobody else knows.
    pub(super) fn hear(&mut self, update: Raw<'_>, session: &str, exchange: &mut Exchange) {
        self.grants.hear(update);
        let shown = self.grants.end(update);
        let text: String = shown.iter().filter_map(|id| self.outputs.get(id).map(String::as_str)).collect();
        if let Some(call) = update.get("toolCallId").filter(|_| !text.is_empty()) {
            let meta = format!("{{\"terminal_output_delta\":{{\"data\":{}}}}}", quoted(&text));
            let update = format!(
                "{{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":{},\"_meta\":{meta}}}",
                call.as_str()
            );
            let params = format!("{{\"sessionId\":\"{session}\",\"update\":{update}}}");
            tell(
                Dir::Agents,
                &format!("{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{params}}}"),
                exchange,
            );
        }
    }

    /// Whether a text is to be read.
    pub(super) fn is_read(&self, number: u64) -> bool {
        self.open.get(&number).is_some_and(|open| matches!(open.act, Act::Read { .. }))
    }

    /// What came of one.
    pub(super) fn done(&mut self, number: u64, done: Result<Done, Undone>, session: &str, stops: bool, exchange: &mut Exchange) {
        let Some(open) = self.open.get_mut(&number) else { return };
        if done == Err(Undone::AskHost) && open.asks == Asks::No && !stops {
            open.asks = Asks::Now;
            return tell(Dir::Agents, &question(&name(number), &open.act, session), exchange);
        }
        let Some(open) = self.open.remove(&number) else { return };
        let message = answer(&open.id, &done);
        if let (Act::Output(terminal), Ok(Done::Output { text, .. })) = (&open.act, &done) {
            self.outputs.insert(terminal.clone(), text.clone());
            if self.outputs.len() > MOST {
                self.outputs.pop_first();
            }
        }
        if open.asks == Asks::Allowed {
            let result = match &done {
                Ok(Done::Started(terminal)) => Ok(format!("It runs in the terminal {terminal}; what it writes is the agent's to read.")),
                Ok(_) => Ok("Done.".to_owned()),
                Err(why) => Err(reason(why).1.to_owned()),
            };
            tell(Dir::Agents, &ended(&name(number), result, session), exchange);
        }
        say(&message, exchange);
    }

    /// The host answers a question about one. Returns whether it is one of these.
    pub(super) fn answered(&mut self, question: &str, allow: bool, mode: PermissionMode, session: &str, exchange: &mut Exchange) -> bool {
        let asked = self
            .open
            .iter_mut()
            .find(|(number, open)| open.asks == Asks::Now && name(**number) == question);
        let Some((&number, open)) = asked else { return false };
        let option = if allow { "allow" } else { "reject" };
        let id = quoted(question);
        tell(
            Dir::Ours,
            &rpc::answer(&id, &format!("{{\"outcome\":{{\"outcome\":\"selected\",\"optionId\":\"{option}\"}}}}")),
            exchange,
        );
        if allow {
            open.asks = Asks::Allowed;
            let act = open.act.clone();
            exchange.client_calls.push(ClientCall {
                number,
                act,
                permitted: true,
                mode,
            });
            return true;
        }
        let why = "the user did not allow it";
        tell(Dir::Agents, &ended(question, Err(why.to_owned()), session), exchange);
        if let Some(open) = self.open.remove(&number) {
            say(&answer(&open.id, &Err(Undone::Refused(why.to_owned()))), exchange);
        }
        true
    }

    /// The turn is not wanted any more, or over: nobody is asked, and what was allowed in it counts no longer.
    pub(super) fn stop(&mut self, exchange: &mut Exchange) {
        self.grants.clear();
        self.outputs.clear();
        let asked = |open: &mut Open| open.asks == Asks::Now;
        for (_, open) in self.open.extract_if(.., |_, open| asked(open)) {
            say(&rpc::error(&open.id, -32800, "Request cancelled"), exchange);
        }
    }

    /// The agent takes a request back. What is being done is done. Gives the question that the host need not answer any more.
    pub(super) fn cancel(&mut self, id: &str, exchange: &mut Exchange) -> Option<String> {
        let (&number, _) = self.open.iter().find(|(_, open)| open.id == id)?;
        let open = self.open.remove(&number)?;
        say(&rpc::error(&open.id, -32800, "Request cancelled"), exchange);
        (open.asks == Asks::Now).then(|| name(number))
    }

    /// The session is over: nothing is answered any more.
    pub(super) fn end(&mut self) {
        take(self);
    }
}

/// The question about a call of us, as the agent would ask it.
fn question(name: &str, act: &Act, session: &str) -> String {
    let (kind, tool, title, input) = match act {
        Act::Write { path, content } => (
            "edit",
            "write_file",
            format!("Write {path}"),
            format!("{{\"path\":{},\"content\":{}}}", quoted(path), quoted(content)),
        ),
        Act::Start(start) => {
            let mut input = format!("{{\"command\":{}", quoted(&start.shown));
            if let Some(folder) = &start.folder {
                input.push_str(&format!(",\"description\":{}", quoted(&format!("in {folder}"))));
            }
            input.push('}');
            ("execute", "execute", shortened(&start.shown), input)
        }
        Act::Read { path, .. } => ("read", "read_file", format!("Read {path}"), format!("{{\"path\":{}}}", quoted(path))),
        Act::Output(id) | Act::Wait(id) | Act::Kill(id) | Act::Release(id) => ("other", "terminal", id.clone(), "{}".to_owned()),
    };
    let call = format!(
        "{{\"toolCallId\":{},\"name\":\"{tool}\",\"kind\":\"{kind}\",\"title\":{},\"rawInput\":{input}}}",
        quoted(name),
        quoted(&title)
    );
    let options = "[{\"optionId\":\"allow\",\"name\":\"Allow\",\"kind\":\"allow_once\"},{\"optionId\":\"reject\",\"name\":\"Reject\",\"kind\":\"reject_once\"}]";
    let params = format!("{{\"sessionId\":\"{session}\",\"toolCall\":{call},\"options\":{options}}}");
    rpc::request(&quoted(name), "session/request_permission", &params)
}

/// That the call of a question is over.
fn ended(name: &str, result: Result<String, String>, session: &str) -> String {
    let (status, text) = match result {
        Ok(text) => ("completed", text),
        Err(why) => ("failed", why),
    };
    let content = format!("[{{\"type\":\"content\",\"content\":{{\"type\":\"text\",\"text\":{}}}}}]", quoted(&text));
    let update = format!(
        "{{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":{},\"status\":\"{status}\",\"content\":{content}}}",
        quoted(name)
    );
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"{session}\",\"update\":{update}}}}}")
}

/// The number of an error, and its words.
const fn reason(why: &Undone) -> (i32, &str) {
    match why {
        Undone::AskHost => (-32603, "the user cannot be asked now"),
        Undone::Missing(why) => (-32002, why.as_str()),
        Undone::Wrong(why) => (-32602, why.as_str()),
        Undone::Refused(why) | Undone::Failed(why) => (-32603, why.as_str()),
    }
}

fn answer(id: &str, done: &Result<Done, Undone>) -> String {
    let exit = |exit: &Exit| {
        let code = exit.code.map_or_else(|| "null".to_owned(), |code| code.to_string());
        let signal = exit.signal.as_deref().map_or_else(|| "null".to_owned(), quoted);
        format!("{{\"exitCode\":{code},\"signal\":{signal}}}")
    };
    let result = match done {
        Ok(Done::Nothing) => "{}".to_owned(),
        Ok(Done::Text(text)) => format!("{{\"content\":{}}}", quoted(text)),
        Ok(Done::Started(terminal)) => format!("{{\"terminalId\":{}}}", quoted(terminal)),
        Ok(Done::Output { text, cut, exit: how }) => {
            let how = how.as_ref().map_or_else(String::new, |how| format!(",\"exitStatus\":{}", exit(how)));
            format!("{{\"output\":{},\"truncated\":{cut}{how}}}", quoted(text))
        }
        Ok(Done::Ended(how)) => exit(how),
        Err(why) => {
            let (code, words) = reason(why);
            let words = match why {
                Undone::Missing(_) => format!("Resource not found: {words}"),
                _ => words.to_owned(),
            };
            return rpc::error(id, code, &words);
        }
    };
    rpc::answer(id, &result)
}

fn shortened(text: &str) -> String {
    let mut end = TITLE.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

/// The text of a JSON string's body.
pub(super) fn plain(body: &str) -> String {
    Str::trusted(body).unescape().into_owned()
}
