//! The session's facts: `system/init`, at the beginning of each turn.

use super::super::VERSION;
use super::{Blocks, Core};
use crate::event::{At, Event, Fate, Kind, Origin, Session};
use crate::json::{Out, Raw, Shape, Str};
use crate::unsaid::Unsaid;

/// What is known of the session, for sources that say it only once.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// An event has told them.
    known: bool,
    /// They begin each turn; without that the turns of the source begin without them.
    pub(super) open_turns: bool,
    /// The members of the line behind the ids, each behind a comma.
    members: Vec<u8>,
    id: String,
    model: String,
    /// What the source does not say: a value that stands for nothing is written.
    lacks: Vec<&'static str>,
    /// Where the source says them, until they are said here.
    kept: Unsaid,
}

/// The program's words for what other programs call the same mode.
pub(super) const MODES: &[(&str, &str)] = &[("acceptEdits", "auto-edit"), ("bypassPermissions", "yolo"), ("force", "yolo")];

impl Facts {
    /// Remembers the facts; tells whether they differ from those that were known. `agent`: they are an agent's of ours.
    pub(super) fn keep(&mut self, session: &Session<'_>, event: &Event<'_>, writer: &Blocks, agent: bool, out: &mut Out) -> bool {
        let own = writer.0.own;
        let before = std::mem::take(&mut self.members);
        self.lacks.clear();
        // Another program's version is not this one's.
        let version = session.version.filter(|_| own || agent);
        self.members = out.apart(|out| {
            out.str_if(",\"cwd\":", session.cwd);
            match session.tools {
                Some(tools) => {
                    out.lit(",\"tools\":");
                    names(tools, out);
                }
                None if own => {}
                None => self.lacks(",\"tools\":[]", "/tools", out),
            }
            self.list((",\"mcp_servers\":", "/mcp_servers"), session.mcp_servers, own, out);
            match session.model {
                Some(model) => {
                    model.as_escaped().clone_into(&mut self.model);
                    out.lit(",\"model\":");
                    out.str(model);
                }
                None if own => {}
                None => self.lacks(",\"model\":\"unknown\"", "/model", out),
            }
            if let Some(mode) = session.permission_mode {
                out.lit(",\"permission_mode\":");
                match MODES.iter().find(|(theirs, _)| !own && mode.is(theirs)) {
                    Some((_, ours)) => {
                        out.renamed(mode.as_escaped(), "this dialect's word for the mode");
                        out.text(ours);
                    }
                    None => out.str(mode),
                }
            }
            self.list((",\"slash_commands\":", "/slash_commands"), session.slash_commands, own, out);
            if version.is_some() || !own {
                out.lit(",\"qwen_code_version\":");
                match version {
                    Some(version) => out.str(version),
                    None => {
                        out.text(VERSION);
                        self.lacks.push("/qwen_code_version");
                    }
                }
            }
            out.unchecked_if(",\"agents\":", session.agents);
            if own {
                out.unchecked_if(",\"capabilities\":", session.capabilities);
                writer.0.fields(out, event.fields, At::Line);
            }
        });
        if out.traced() {
            let texts = [session.cwd, session.model, session.permission_mode, version, event.origin.session]
                .into_iter()
                .chain([event.origin.id.filter(|_| own)])
                .flatten();
            let lists = [session.tools, session.mcp_servers, session.slash_commands, session.agents]
                .into_iter()
                .flatten();
            self.kept.hear(texts.map(Str::as_escaped).chain(lists.map(Raw::as_str)), out);
        }
        self.known = true;
        self.open_turns = session.opens_turn;
        self.id.clear();
        self.id.push_str(event.origin.id.filter(|_| own).map_or("", Str::as_escaped));
        before != self.members
    }

    /// Writes a member that the source does not say.
    fn lacks(&mut self, member: &str, pointer: &'static str, out: &mut Out) {
        out.lit(member);
        self.lacks.push(pointer);
    }

    fn list(&mut self, (key, pointer): (&str, &'static str), value: Option<Raw<'_>>, own: bool, out: &mut Out) {
        match value {
            Some(value) => {
                out.lit(key);
                out.unchecked(value);
            }
            None if own => {}
            None => {
                out.lit(key);
                self.lacks("[]", pointer, out);
            }
        }
    }

    /// What is known is said.
    pub(super) fn said(&mut self, out: &Out) {
        self.kept.said(out);
    }

    /// What is known was not said, for no turn has begun.
    pub(super) fn unsaid(&mut self, out: &Out) {
        self.kept.drop(out);
    }

    /// The model of a reply that names `model`, or none.
    pub(super) fn model_of<'m>(&'m self, model: &'m str, out: &Out) -> &'m str {
        if !model.is_empty() {
            return model;
        }
        if !self.model.is_empty() {
            return &self.model;
        }
        out.invented("/message/model", "not known; the target's parsers need a name");
        "unknown"
    }
}

impl Core {
    /// Writes the facts that are known.
    pub(super) fn init(&mut self, out: &mut Out) {
        self.turn.init = true;
        self.pen.open("system", out);
        out.lit(",\"subtype\":\"init\",\"uuid\":\"");
        // The line's id is the session's.
        let session = self.pen.session_id(out);
        out.lit(if self.facts.id.is_empty() {
            session.as_escaped()
        } else {
            &self.facts.id
        });
        out.lit("\",\"session_id\":\"");
        out.lit(session.as_escaped());
        out.lit("\"");
        if self.facts.members.is_empty() && !self.own {
            // Nobody has told anything.
            let (nothing, origin) = (Session::default(), Origin::default());
            let event = Event::new(origin, Kind::Session(&nothing));
            let known = self.facts.known;
            self.facts.keep(&nothing, &event, &self.writer, self.agent, out);
            self.facts.known = known;
        }
        out.bytes(&self.facts.members);
        for &pointer in &self.facts.lacks {
            out.invented(pointer, "the source does not say it");
        }
        self.facts.said(out);
        self.pen.close(out);
    }

    /// A turn begins without its facts.
    #[cold]
    pub(super) fn missing_init(&mut self, out: &mut Out) {
        let why = if self.facts.known {
            "the facts of the session once more, for a turn begins with them"
        } else {
            "a turn begins with an init line"
        };
        out.note(Fate::Invented, "", why);
        self.init(out);
    }

    /// Whether the turn that ends should have begun with facts, though nothing was said in it. What `failed` may never have begun.
    pub(super) const fn lacks_init(&self, failed: bool) -> bool {
        self.facts.known && !(self.own || self.turn.init || self.facts.open_turns && failed)
    }
}

/// Names of tools: a list, or in the RFC one text with blanks between them.
fn names(tools: Raw<'_>, out: &mut Out) {
    let Some(text) = tools.string().filter(|_| tools.shape() == Some(Shape::String)) else {
        return out.unchecked(tools);
    };
    out.lit("[");
    for (n, name) in text.as_escaped().split(' ').filter(|name| !name.is_empty()).enumerate() {
        if n > 0 {
            out.lit(",");
        }
        out.str(Str::trusted(name));
    }
    out.lit("]");
}
