//! What is said to an agent, as JSON.

use super::super::lines;
use crate::client::{Exchange, Member, Serves};
use crate::conduct::quoted;
use crate::event::{Block, Content};
use crate::json::{Out, Raw, Shape, Str};
use crate::launch::{Launch, Means, ServerWords, Text, merged_servers};

/// The version of the protocol that is spoken.
pub(super) const VERSION: i64 = 1;

/// What is said of us in the handshake.
pub(super) const GREETING: &str = concat!(
    "{\"protocolVersion\":1,\"clientCapabilities\":{\"fs\":{\"readTextFile\":true,\"writeTextFile\":true},\"terminal\":true,",
    // What an agent has to tell its user would otherwise come as if its model had said it.
    "\"session\":{\"notices\":{}}},",
    "\"clientInfo\":{\"name\":\"agentglot\",\"title\":\"agentglot\",\"version\":\"",
    env!("CARGO_PKG_VERSION"),
    "\"}}"
);

/// Who says a message, in the words of a recorder.
#[derive(Clone, Copy, Debug)]
pub(super) enum Dir {
    Ours,
    Agents,
}

/// Lets the session read a message.
pub(super) fn tell(dir: Dir, message: &str, exchange: &mut Exchange) {
    let dir = match dir {
        Dir::Ours => "c2a",
        Dir::Agents => "a2c",
    };
    exchange
        .session
        .extend_from_slice(format!("{{\"dir\":\"{dir}\",\"msg\":{message}}}\n").as_bytes());
}

/// Says a message to the agent.
pub(super) fn say(message: &str, exchange: &mut Exchange) {
    exchange.program.extend_from_slice(message.as_bytes());
    exchange.program.push(b'\n');
}

/// A message with other members in a part of it, which is one of its objects.
pub(super) fn with_members(text: &str, part: Raw<'_>, members: &[Member]) -> String {
    let kept = part.members().filter(|(name, _)| !members.iter().any(|(member, _)| name.is(member)));
    let kept = kept.map(|(name, value)| format!("\"{}\":{}", name.as_escaped(), value.as_str()));
    let new = members.iter().filter_map(|(name, value)| Some(format!("\"{name}\":{}", value.as_ref()?)));
    let whole = format!("{{{}}}", kept.chain(new).collect::<Vec<_>>().join(","));
    // It is a slice of the message.
    let at = part.as_str().as_ptr() as usize - text.as_ptr() as usize;
    [&text[..at], &whole, &text[at + part.as_str().len()..]].concat()
}

/// A tool of one of these servers, where the agent joins the two names, by the name that says which is which.
pub(super) fn part_names(members: &mut [Member], servers: &[String]) {
    for (_, name) in members.iter_mut().filter(|(member, _)| *member == "name") {
        let Some(joined) = name.as_deref().and_then(|name| name.strip_prefix('"')) else {
            continue;
        };
        let known = servers
            .iter()
            .filter_map(|server| Some((server, joined.strip_prefix(server.as_str())?.strip_prefix('_')?)));
        // A server may be called as another one and a tool of its.
        if let Some((server, tool)) = known.max_by_key(|(server, _)| server.len()) {
            *name = Some(format!("\"mcp__{server}__{tool}"));
        }
    }
}

/// The names of a launch's MCP servers, with the characters replaced that no tool may have.
pub(super) fn names(launch: &Launch) -> Vec<String> {
    let configs: Vec<&str> = launch.mcp_config.iter().map(String::as_str).collect();
    let merged = merged_servers(&configs, ServerWords::Type, ServerWords::Type).map(|(merged, _)| merged);
    let all = Raw::trusted(merged.as_deref().unwrap_or("{}")).get("mcpServers");
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || "_-".contains(letter) {
            letter
        } else {
            '_'
        }
    };
    all.into_iter()
        .flat_map(Raw::members)
        .map(|(name, _)| name.unescape().chars().map(plain).collect())
        .collect()
}

/// A call that a question is about, as the agent would say it without asking.
pub(super) fn update(session: &str, call: Raw<'_>) -> String {
    let told = with_members(call.as_str(), call, &[("sessionUpdate", Some("\"tool_call_update\"".to_owned()))]);
    updated(session, &told)
}

fn updated(session: &str, update: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"{session}\",\"update\":{update}}}}}")
}

/// What the agent would say of a call that was not allowed, for this reason.
pub(super) fn denied(session: &str, call: &str, why: &str) -> String {
    let content = format!("[{{\"type\":\"content\",\"content\":{{\"type\":\"text\",\"text\":\"{why}\"}}}}]");
    let update = format!("{{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"{call}\",\"status\":\"failed\",\"content\":{content}}}");
    updated(session, &update)
}

/// What an error says.
pub(super) fn said(error: Raw<'_>) -> String {
    let text = |value: Option<Raw<'_>>| value.and_then(Raw::string).map(|text| text.unescape().into_owned());
    let message = text(error.get("message")).unwrap_or_else(|| error.as_str().to_owned());
    let details = error.get("data").and_then(|data| text(data.get("details")).or_else(|| text(Some(data))));
    match details.filter(|details| !message.contains(details.as_str())) {
        Some(details) => format!("{message}: {details}"),
        None => message,
    }
}

/// The block of a prompt, and whether it is an image; `None` if the protocol has no word for it.
pub(super) fn block(block: Block<'_>) -> Option<(bool, String)> {
    let mut out = Out::new(None);
    lines::blocks(Content::Blocks(&[block]), "", "", &mut out);
    let text = String::from_utf8_lossy(out.written()).into_owned();
    (!text.is_empty()).then_some((matches!(block, Block::Media(_)), text))
}

/// The members of a request that opens a session, behind its id: folder, servers, more folders, and what only some agents read.
pub(super) fn opening(launch: &Launch, can: &super::Abilities, serves: Option<&Serves>, notes: &mut Vec<String>) -> String {
    let mut params = format!("\"cwd\":{},\"mcpServers\":[", quoted(launch.cwd.as_deref().unwrap_or("/")));
    params.push_str(&servers(launch, can, notes).join(","));
    params.push(']');
    if !launch.add_dirs.is_empty() {
        if can.folders {
            let folders: Vec<String> = launch.add_dirs.iter().map(|folder| quoted(folder)).collect();
            params.push_str(&format!(",\"additionalDirectories\":[{}]", folders.join(",")));
        } else if !serves.is_some_and(|serves| serves.flags.contains(&Means::AddDir)) {
            notes.push("the agent works in one folder: those that the host adds are not told".to_owned());
        }
    }
    // Programs that are known do not read such words.
    if serves.is_none() {
        params.push_str(&meta(launch, can));
    }
    let said = |text: &Option<Text>| text.as_ref().is_some_and(|text| !matches!(text, Text::Here(text) if text.is_empty()));
    let known = serves.is_some();
    let unsaid = [
        (known && (said(&launch.system.replace) || said(&launch.system.append)), "system"),
        (known && launch.agents.is_some(), "agents"),
        (
            known && launch.setting_sources.as_ref().is_some_and(|sources| !sources.is_empty()),
            "setting_sources",
        ),
        (launch.json_schema.is_some(), "json_schema"),
        (launch.settings.is_some(), "settings"),
        (launch.max_budget_usd.is_some(), "max_budget_usd"),
        (launch.effort.is_some(), "effort"),
        (launch.session_id.is_some(), "session_id"),
    ];
    for (_, name) in unsaid.iter().filter(|(wanted, _)| *wanted) {
        notes.push(format!("the agent is not told `{name}`: the protocol has no word for it"));
    }
    params
}

/// What the protocol has no word for, in the form in which some agents take it: the system prompt, and options of a program's own; those that speak
/// of tools and agents only for hosts of that program.
fn meta(launch: &Launch, can: &super::Abilities) -> String {
    let text = |text: &Option<Text>| match text {
        Some(Text::Here(text)) => Some(text.clone()),
        Some(Text::File(_)) | None => None,
    };
    let list = |words: &[String]| format!("[{}]", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(","));
    let mut meta = Vec::new();
    match (&text(&launch.system.replace), &text(&launch.system.append)) {
        (Some(prompt), None) => meta.push(format!("\"systemPrompt\":{}", quoted(prompt))),
        (Some(prompt), Some(more)) => meta.push(format!("\"systemPrompt\":{}", quoted(&format!("{prompt}\n\n{more}")))),
        (None, Some(more)) => meta.push(format!("\"systemPrompt\":{{\"append\":{}}}", quoted(more))),
        (None, None) => {}
    }
    if let Some((program, name)) = can.own.and_then(|program| Some((program, program.traits.extension?))) {
        let own = launch.format.dialect == program.dialect;
        let object = |json: &&String| Raw::trusted(json).check().is_ok() && Raw::trusted(json).shape() == Some(Shape::Object);
        let options = [
            ("model", launch.model.as_deref().map(quoted)),
            ("settingSources", launch.setting_sources.as_deref().map(list)),
            ("tools", launch.tools.as_deref().filter(|_| own).map(list)),
            (
                "disallowedTools",
                Some(&launch.disallowed_tools[..]).filter(|tools| own && !tools.is_empty()).map(list),
            ),
            ("agents", launch.agents.as_ref().filter(|_| own).filter(object).cloned()),
        ];
        let options: Vec<String> = options
            .into_iter()
            .filter_map(|(name, value)| Some(format!("\"{name}\":{}", value?)))
            .collect();
        if !options.is_empty() {
            meta.push(format!("\"{name}\":{{\"options\":{{{}}}}}", options.join(",")));
        }
    }
    if meta.is_empty() {
        String::new()
    } else {
        format!(",\"_meta\":{{{}}}", meta.join(","))
    }
}

/// The MCP servers of a launch. Those inside the host cannot be reached from here.
fn servers(launch: &Launch, can: &super::Abilities, notes: &mut Vec<String>) -> Vec<String> {
    let configs: Vec<&str> = launch.mcp_config.iter().map(String::as_str).collect();
    let from = launch
        .format
        .dialect
        .program()
        .map_or(ServerWords::Type, |program| program.traits.servers);
    let Some((merged, lost)) = merged_servers(&configs, from, ServerWords::Type) else {
        notes.push("the agent is told no MCP servers: what names them is no JSON object".to_owned());
        return Vec::new();
    };
    notes.extend(lost.map(str::to_owned));
    let all = Raw::trusted(&merged);
    let mut list = Vec::new();
    for (name, server) in all.get("mcpServers").into_iter().flat_map(Raw::members) {
        let text = |member: &str| server.get(member).and_then(Raw::string);
        let kind = text("type").map_or("stdio", Str::as_escaped);
        let name = name.as_escaped();
        let says = match (text("command"), text("url")) {
            (Some(command), _) => format!(
                "\"command\":\"{}\",\"args\":{},\"env\":{}",
                command.as_escaped(),
                server.get("args").map_or("[]", Raw::as_str),
                pairs(server.get("env"))
            ),
            (None, Some(url)) if kind == "http" && can.http || kind == "sse" && can.sse => format!(
                "\"type\":\"{kind}\",\"url\":\"{}\",\"headers\":{}",
                url.as_escaped(),
                pairs(server.get("headers"))
            ),
            _ => {
                notes.push(format!("the agent is not told the MCP server {name:?}: it has no way to it"));
                continue;
            }
        };
        list.push(format!("{{\"name\":\"{name}\",{says}}}"));
    }
    list
}

/// An object as `[{name,value}]`.
fn pairs(object: Option<Raw<'_>>) -> String {
    let pairs = object.into_iter().flat_map(Raw::members);
    let pairs: Vec<String> = pairs
        .filter_map(|(name, value)| Some((name, value.string()?)))
        .map(|(name, value)| format!("{{\"name\":\"{}\",\"value\":\"{}\"}}", name.as_escaped(), value.as_escaped()))
        .collect();
    format!("[{}]", pairs.join(","))
}
