//! A session's transcript while it is written: a line an entry, each hung from the one that it follows.

mod disk;

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value};

pub use self::disk::Writing;
use super::checkpoint::Checkpoints;
use super::dir::Dir;
use super::facts::{ApiFailure, Compaction, Mirror, ResultFacts, Round, Subagent, Trouble, UserFacts, Writer};
use super::line::{self, Object, quoted};
use super::place;
use crate::clock::now_iso;
use crate::model::message::{CallResult, Part};
use crate::redact::Secrets;

/// How much of a prompt a list shows.
const SHOWN: usize = 200;

/// A transcript that is written. No failure of the disk reaches the session: [`Self::take_trouble`] tells of it, once.
#[derive(Debug)]
pub struct Transcript {
    id: String,
    /// The folder of the session's own files, which may not exist yet: its parent, and its name.
    home: Option<Rc<Dir>>,
    path: Option<PathBuf>,
    file: Option<Arc<File>>,
    /// Removed when it is dropped and nothing was written.
    fresh: bool,
    /// What lies beside it may be anybody's.
    elsewhere: bool,
    /// Lines that the disk did not take.
    held: Vec<u8>,
    stopped: bool,
    trouble: Option<Trouble>,
    told: bool,
    dirty: bool,
    agent: Option<String>,
    pub(super) leaf: Option<String>,
    /// The entry of each call that waits for its result.
    calls: HashMap<String, String>,
    /// The reply that is being written: its id, and its last entry.
    reply: Option<(String, String)>,
    pub(super) last_prompt: Option<String>,
    writer: Rc<Writer>,
    secrets: Rc<Secrets>,
    mirror: Option<Vec<Mirror>>,
}

/// Where a transcript goes.
pub(super) struct Place {
    pub(super) home: Rc<Dir>,
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// It was made for this session, with this line to begin it.
    pub(super) fresh: Option<String>,
    /// It lies elsewhere than our sessions do.
    pub(super) elsewhere: bool,
}

/// The line that says what a session is called.
pub(super) fn title_line(session: &str, title: &str) -> String {
    let mut note = Object::new();
    note.text("type", "custom-title")
        .text("customTitle", title.trim())
        .text("sessionId", session);
    note.end()
}

impl Transcript {
    /// One that is not kept, or goes where it is told.
    pub(super) fn new(id: String, place: Option<Place>, writer: Rc<Writer>, secrets: Rc<Secrets>) -> Self {
        let elsewhere = place.as_ref().is_some_and(|place| place.elsewhere);
        let (home, path, file, fresh) = match place {
            Some(place) => (Some(place.home), Some(place.path), Some(Arc::new(place.file)), place.fresh),
            None => (None, None, None, None),
        };
        Self {
            id,
            home,
            path,
            file,
            held: fresh.as_deref().unwrap_or_default().as_bytes().to_vec(),
            fresh: fresh.is_some(),
            elsewhere,
            stopped: false,
            trouble: None,
            told: false,
            dirty: false,
            agent: None,
            leaf: None,
            calls: HashMap::new(),
            reply: None,
            last_prompt: None,
            writer,
            secrets,
            mirror: None,
        }
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where it is, if it is kept.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The entry that the next one hangs from.
    pub fn leaf(&self) -> Option<&str> {
        self.leaf.as_deref()
    }

    /// Who writes, for entries from now on: the model's or the branch's change is told here.
    pub fn set_writer(&mut self, writer: Writer) {
        self.writer = Rc::new(writer);
    }

    /// From now on [`Self::take_mirror`] gives what is written.
    pub fn mirror(&mut self) {
        self.mirror.get_or_insert_default();
    }

    /// What the host said, or what is said in its name.
    pub fn append_user(&mut self, parts: &[Part], facts: &UserFacts<'_>) -> String {
        let mut more = Object::new();
        let mut message = Object::new();
        message.text("role", "user").raw("content", &line::content(parts, &mut more));
        if self.agent.is_none() && !facts.is_meta && !facts.is_compact_summary {
            let text: Vec<&str> = parts
                .iter()
                .filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None })
                .collect();
            if !text.is_empty() {
                self.last_prompt = Some(short(&text.join(" ")));
            }
        }
        let uuid = given(facts.uuid);
        // What follows is another reply, even where a server gives every reply the same id.
        self.reply = None;
        let mut entry = self.begin(self.leaf.clone().as_deref());
        entry.maybe("promptId", facts.prompt_id);
        entry.text("type", "user").raw("message", &message.end());
        entry.only_if("isMeta", facts.is_meta);
        entry.only_if("isVisibleInTranscriptOnly", facts.is_compact_summary || facts.for_people_only);
        entry.only_if("isCompactSummary", facts.is_compact_summary);
        entry.maybe("permissionMode", facts.permission_mode);
        if let Some(origin) = facts.origin {
            entry.value("origin", origin);
        }
        self.chain(entry, uuid)
    }

    /// A reply of the model's, block by block. `uuids` are those that the host knows the blocks by; what has none gets one.
    pub fn append_assistant(&mut self, parts: &[Part], round: &Round<'_>, uuids: &[String]) -> Vec<String> {
        let blocks = parts.iter().enumerate();
        blocks
            .map(|(at, part)| self.append_block(part, round, uuids.get(at).map(String::as_str)))
            .collect()
    }

    /// A block of a reply. The blocks of one [`Round::message_id`] are one reply.
    pub fn append_block(&mut self, part: &Part, round: &Round<'_>, uuid: Option<&str>) -> String {
        let uuid = given(uuid);
        // Results may come before the reply is over; its blocks hang from one another all the same.
        let parent = match &self.reply {
            Some((reply, block)) if *reply == round.message_id => Some(block.clone()),
            _ => self.leaf.clone(),
        };
        let mut more = Object::new();
        let block = line::block(part, &mut more);
        let mut entry = self.begin(parent.as_deref());
        entry.raw("message", &message(round, &block)).maybe("requestId", round.request_id);
        entry.text("type", "assistant");
        if !more.is_empty() {
            entry.raw("agentglot", &more.end());
        }
        if let Part::Call(call) = part {
            self.calls.insert(call.id.clone(), uuid.clone());
        }
        self.reply = Some((round.message_id.to_owned(), uuid.clone()));
        self.chain(entry, uuid)
    }

    /// A call's result. It hangs from its call, wherever that is.
    pub fn append_result(&mut self, result: &CallResult, facts: &ResultFacts<'_>) -> String {
        let call = self.calls.remove(&result.call);
        let parent = call.clone().or_else(|| self.leaf.clone());
        let mut message = Object::new();
        message.text("role", "user").raw("content", &format!("[{}]", line::tool_result(result)));
        let mut entry = self.begin(parent.as_deref());
        entry.text("type", "user").raw("message", &message.end());
        match facts.detail {
            Some(detail) => {
                entry.value("toolUseResult", detail);
            }
            None if result.is_error => {
                let texts = result
                    .content
                    .iter()
                    .filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None });
                entry.text("toolUseResult", &format!("Error: {}", texts.collect::<String>()));
            }
            None => {}
        }
        entry.maybe("sourceToolAssistantUUID", call.as_deref());
        entry.maybe("toolDenialKind", facts.denial);
        self.chain(entry, given(facts.uuid))
    }

    /// The results of a reply's calls, in the order in which they came.
    pub fn append_results(&mut self, results: &[CallResult], facts: &ResultFacts<'_>) -> Vec<String> {
        results.iter().map(|result| self.append_result(result, facts)).collect()
    }

    /// Something that is part of the chain and no message: `api_error`, `informational`, `local_command` …
    pub fn append_system(&mut self, subtype: &str, fields: &Map<String, Value>, uuid: Option<&str>) -> String {
        let mut entry = self.begin(self.leaf.clone().as_deref());
        entry.text("type", "system").text("subtype", subtype);
        for (key, value) in fields {
            entry.value(key, value);
        }
        self.chain(entry, given(uuid))
    }

    /// Something beside the conversation that belongs to this place of it: a hook's output, the structured output.
    pub fn append_attachment(&mut self, attachment: &Value, uuid: Option<&str>) -> String {
        let mut entry = self.begin(self.leaf.clone().as_deref());
        entry.value("attachment", attachment).text("type", "attachment");
        self.chain(entry, given(uuid))
    }

    /// The model did not reply, for this reason. It is not sent to the model.
    pub fn append_failure(&mut self, failure: &ApiFailure<'_>) -> String {
        let id = uuid();
        let round = Round {
            message_id: &id,
            model: "<synthetic>",
            stop_reason: Some("stop_sequence"),
            ..Round::default()
        };
        let block = line::block(&Part::Text(failure.text.to_owned()), &mut Object::new());
        let mut entry = self.begin(self.leaf.clone().as_deref());
        entry.text("type", "assistant").raw("message", &message(&round, &block));
        entry
            .maybe("requestId", failure.request_id)
            .maybe("error", failure.error)
            .flag("isApiErrorMessage", true);
        if let Some(status) = failure.status {
            entry.raw("apiErrorStatus", &status.to_string());
        }
        self.chain(entry, given(failure.uuid))
    }

    /// The conversation up to here is replaced by this summary: what is read back begins behind the boundary. Returns the entries of
    /// the boundary and of the summary.
    pub fn compact(&mut self, summary: &str, compaction: &Compaction<'_>) -> (String, String) {
        let mut about = Object::new();
        about.text("trigger", if compaction.manual { "manual" } else { "auto" });
        about.raw("preTokens", &compaction.tokens_before.to_string());
        if let Some(after) = compaction.tokens_after {
            about.raw("postTokens", &after.to_string());
        }
        if let Some(took) = compaction.took {
            about.raw("durationMs", &took.as_millis().to_string());
        }
        let before = self.leaf.take();
        let mut entry = self.begin(None);
        entry.or_null("logicalParentUuid", before.as_deref());
        entry
            .text("type", "system")
            .text("subtype", "compact_boundary")
            .text("content", "Conversation compacted");
        entry.flag("isMeta", false).raw("compactMetadata", &about.end());
        let boundary = self.chain(entry, given(compaction.boundary));
        self.calls.clear();
        let facts = UserFacts {
            uuid: compaction.summary,
            is_compact_summary: true,
            ..UserFacts::default()
        };
        let summary = self.append_user(&[Part::Text(summary.to_owned())], &facts);
        (boundary, summary)
    }

    /// A turn is over: what was said last, and where the conversation goes on, is noted.
    pub fn end_turn(&mut self) {
        let Some(leaf) = self.leaf.clone() else { return };
        let prompt = self.last_prompt.clone();
        let mut note = Object::new();
        note.text("type", "last-prompt")
            .maybe("lastPrompt", prompt.as_deref())
            .text("leafUuid", &leaf)
            .text("sessionId", &self.id);
        self.put(note.end());
    }

    /// The session is called this from now on; it can be resumed by it.
    pub fn rename(&mut self, title: &str) {
        self.put(title_line(&self.id, title));
    }

    /// The session is tagged with this; nothing takes the tag away.
    pub fn tag(&mut self, tag: Option<&str>) {
        let mut note = Object::new();
        note.text("type", "tag")
            .text("tag", tag.unwrap_or_default().trim())
            .text("sessionId", &self.id);
        self.put(note.end());
    }

    /// A line outside the chain: `cost-state`, `mode` …
    pub fn note(&mut self, kind: &str, fields: &Map<String, Value>) {
        let mut note = Object::new();
        note.text("type", kind);
        for (key, value) in fields {
            note.value(key, value);
        }
        note.text("sessionId", &self.id);
        self.put(note.end());
    }

    /// The transcript of a subagent of this session, in a file of its own.
    ///
    /// A subagent whose id cannot be a file's name is not kept.
    pub fn subagent(&mut self, about: &Subagent<'_>) -> Self {
        let mut meta = Object::new();
        meta.text("agentType", about.kind)
            .maybe("description", about.description)
            .maybe("toolUseId", about.call);
        meta.maybe("parentAgentId", self.agent.as_deref());
        let meta = self.redacted(meta.end());
        let opened = self
            .home
            .clone()
            .filter(|_| place::is_agent(about.id))
            .map(|home| self.open_agent(&home, about.id, &meta));
        let place = match opened {
            Some(Ok(place)) => Some(place),
            Some(Err(error)) => {
                self.fail(&error);
                None
            }
            None => None,
        };
        let mut transcript = Self::new(self.id.clone(), place, Rc::clone(&self.writer), Rc::clone(&self.secrets));
        transcript.agent = Some(about.id.to_owned());
        transcript.told = self.told;
        if self.mirror.is_some() {
            transcript.mirror();
            if let Some(rest) = meta.strip_prefix('{') {
                transcript.mirrored(format!("{{\"type\":\"agent_metadata\",{rest}"));
            }
        }
        transcript
    }

    fn open_agent(&self, home: &Rc<Dir>, id: &str, meta: &str) -> io::Result<Place> {
        let agents = home.sub(&self.id, true)?.sub("subagents", true)?;
        agents.replace(&format!("agent-{id}.meta.json"), meta.as_bytes(), 0o600)?;
        let name = format!("agent-{id}.jsonl");
        let file = agents.append(&name, true)?;
        Ok(Place {
            home: Rc::clone(home),
            path: agents.path().join(&name),
            file,
            fresh: None,
            elsewhere: self.elsewhere,
        })
    }

    /// The part of an entry that all of the chain have.
    fn begin(&self, parent: Option<&str>) -> Object {
        let mut entry = Object::new();
        entry.or_null("parentUuid", parent).flag("isSidechain", self.agent.is_some());
        entry.maybe("agentId", self.agent.as_deref());
        entry
    }

    /// Writes an entry; the next one hangs from it.
    fn chain(&mut self, mut entry: Object, uuid: String) -> String {
        let writer = Rc::clone(&self.writer);
        entry.text("uuid", &uuid).text("timestamp", &now_iso());
        entry
            .text("userType", "external")
            .text("entrypoint", &writer.entrypoint)
            .text("cwd", &writer.cwd);
        entry
            .text("sessionId", &self.id)
            .text("version", &writer.version)
            .text("gitBranch", &writer.branch);
        self.leaf = Some(uuid.clone());
        self.put(entry.end());
        uuid
    }

    /// What files were before this session's tools changed them, kept beside the transcript and there again when it is resumed. Beside one
    /// that came from elsewhere somebody may have laid others, which name any file: those do not count.
    pub fn checkpoints(&self) -> Checkpoints {
        let folder = self
            .home
            .as_ref()
            .filter(|_| !self.elsewhere)
            .map(|home| home.sub(&self.id, true).and_then(|own| own.sub("checkpoints", true)));
        Checkpoints::open(folder.and_then(Result::ok))
    }
}

fn message(round: &Round<'_>, block: &str) -> String {
    let mut message = Object::new();
    message
        .text("id", round.message_id)
        .text("type", "message")
        .text("role", "assistant")
        .text("model", round.model);
    message
        .raw("content", &format!("[{block}]"))
        .or_null("stop_reason", round.stop_reason)
        .raw("stop_sequence", "null");
    match round.usage {
        Some(usage) => message.value("usage", usage),
        None => message.raw("usage", r#"{"input_tokens":0,"output_tokens":0}"#),
    };
    message.end()
}

fn given(id: Option<&str>) -> String {
    id.map_or_else(uuid, str::to_owned)
}

pub(super) fn uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The beginning of a prompt, on one line.
pub(super) fn short(text: &str) -> String {
    let line = text.replace(['\n', '\r'], " ");
    let line = line.trim();
    match line.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}\u{2026}", line[..cut].trim_end()),
        None => line.to_owned(),
    }
}

/// The first line of our sessions: whose they are. Readers pass over types that they do not know.
pub(super) fn head(dialect: &str, id: &str, writer: &Writer) -> String {
    format!(
        "{{\"type\":\"agentglot\",\"dialect\":{},\"sessionId\":{},\"cwd\":{},\"timestamp\":{},\"version\":{}}}\n",
        quoted(dialect),
        quoted(id),
        quoted(&writer.cwd),
        quoted(&now_iso()),
        quoted(env!("CARGO_PKG_VERSION")),
    )
}
