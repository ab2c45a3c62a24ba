//! `assistant` and `user` lines.

use super::super::USAGE;
use super::{Decoder, Envelope, Line, Open, name};
use crate::blocks::{Part, Said, api_error};
use crate::codec::TellsEnd;
use crate::event::{At, Block, Content, Event, Input, InputKind, Kind, Prompt, PromptSource, Reply, ResultStatus, Side, ToolResult, Usage};
use crate::json::{Error, Raw, Str, Why};

impl Decoder {
    pub(super) fn assistant<'a>(&mut self, mut line: Line<'_, 'a, '_>) -> Result<usize, Error> {
        let mut envelope = Envelope::new(&line.reader);
        let mut reply = None;
        let mut object = line.at.object()?;
        while let Some(key) = object.key(&mut line.at)? {
            match name(line.cx, key) {
                "message" if reply.is_none() => reply = Some(line.reader.reply(&mut line.at, &mut envelope.fields)?),
                name => envelope.member(key, name, &line.reader, &mut line.at)?,
            }
        }
        let mut reply: Reply<'a> = reply.ok_or(line.at.error(Why::Missing("message")))?;
        let used = line.at.position();
        reply.usage = reply.usage.filter(|usage| !line.blank(usage, &mut envelope));
        // Only the last piece of a reply has its usage; with pieces, `message_stop` says so too.
        reply.last = envelope.origin.parent.is_none() && reply.usage.is_some() && !self.open.message;
        if is_api_error(&reply) {
            let text = reply.blocks.iter().find_map(|block| match block {
                Block::Text { text, .. } => Some(text.as_escaped()),
                _ => None,
            });
            reply.error = text.map(|text| Str::trusted(api_error::word(text)));
        }
        let event = envelope.event(Kind::Reply(line.cx.keep(reply)));
        line.only(self, &event, used, None);
        Ok(used)
    }

    /// What a `user` line is depends on who wrote it: the program's own lines have a `uuid`, the host's have none.
    pub(super) fn user<'a>(&mut self, mut line: Line<'_, 'a, '_>) -> Result<usize, Error> {
        let mut envelope = Envelope::new(&line.reader);
        let mut said = None;
        let mut object = line.at.object()?;
        while let Some(key) = object.key(&mut line.at)? {
            match name(line.cx, key) {
                "message" if said.is_none() => said = Some(line.reader.user(&mut line.at, &mut envelope.fields)?),
                name => envelope.member(key, name, &line.reader, &mut line.at)?,
            }
        }
        let said = said.ok_or(line.at.error(Why::Missing("message")))?;
        let used = line.at.position();
        let with_results = matches!(said, Said::Parts(_));
        if self.hears_host || envelope.origin.id.is_none() && !(with_results && self.side == Side::Agent) {
            line.prompt_of_host(envelope, said)?;
            self.side = Side::Host;
            return Ok(used);
        }
        self.side = Side::Agent;
        match said {
            Said::Content(content) => {
                let source = if envelope.origin.parent.is_some() {
                    PromptSource::Parent
                } else {
                    PromptSource::Agent
                };
                let event = envelope.event(Kind::Prompt(line.cx.keep(Prompt { content, source })));
                self.open.told(&event);
                line.sink.event(&event);
            }
            Said::Parts([Part::Result(result)]) => {
                let status = status(result);
                let result = line.cx.keep(ToolResult { status, ..*result });
                line.only(self, &envelope.event(Kind::ToolResult(result)), used, None);
            }
            Said::Parts(parts) => line.results(&mut self.open, envelope, parts),
        }
        Ok(used)
    }
}

impl<'a> Line<'_, 'a, '_> {
    /// Whether a usage holds nothing but zeros, which stand for "not known yet". What it holds besides the two zeros that every
    /// such usage has is kept as fields.
    fn blank(&self, usage: &Usage<'a>, envelope: &mut Envelope<'a>) -> bool {
        if !usage.is_blank() {
            return false;
        }
        let (mut input, mut output) = (false, false);
        for (key, value) in usage.raw.into_iter().flat_map(Raw::members) {
            match key.as_escaped() {
                "input_tokens" if !input && value.as_str() == "0" => {
                    input = true;
                    self.cx.took(value.as_str());
                }
                "output_tokens" if !output && value.as_str() == "0" => {
                    output = true;
                    self.cx.took(value.as_str());
                }
                _ => envelope.fields.push(self.reader.field(At::Part(USAGE), key, value)),
            }
        }
        true
    }

    /// Results, one event each, and whatever stands between them.
    fn results(&mut self, open: &mut Open, envelope: Envelope<'a>, parts: &'a [Part<'a>]) {
        let origin = envelope.origin;
        let mut fields = envelope.fields.into_bump_slice();
        for part in parts {
            let kind = match part {
                Part::Result(result) => {
                    let status = status(result);
                    Kind::ToolResult(self.cx.keep(ToolResult { status, ..*result }))
                }
                Part::Block(block) => {
                    let content = Content::Blocks(std::slice::from_ref(self.cx.keep(*block)));
                    let source = if origin.parent.is_some() {
                        PromptSource::Parent
                    } else {
                        PromptSource::Agent
                    };
                    Kind::Prompt(self.cx.keep(Prompt { content, source }))
                }
            };
            let event = Event { origin, kind, fields };
            open.told(&event);
            self.sink.event(&event);
            fields = &[];
        }
    }

    /// The host's prompt.
    fn prompt_of_host(&mut self, envelope: Envelope<'a>, said: Said<'a>) -> Result<(), Error> {
        let content = self.reader.as_prompt(said, self.text)?;
        let prompt = self.cx.keep(Prompt {
            content,
            source: PromptSource::Host,
        });
        self.sink.input(&Input {
            origin: envelope.origin,
            kind: InputKind::Prompt(prompt),
            fields: envelope.fields.into_bump_slice(),
        });
        Ok(())
    }
}

/// Whether a reply is what the program says itself when a request has failed, before a `result` with the same words. The line may say tokens: those of
/// a stream that held nothing else (recording `empty_reply`).
pub(super) fn is_api_error(reply: &Reply<'_>) -> bool {
    matches!(reply.blocks, [Block::Text { text, .. }] if api_error::is_sentence(text.as_escaped()))
}

/// What the result of a call begins with that an interrupt has ended.
const ABORTED: &str = "Tool call cancelled by user abort.";

/// Only the program's own sentences say that a call was refused or stopped.
pub(crate) fn tells_end(result: &ToolResult<'_>, at: &'static str) -> TellsEnd {
    let is_error = Some(true);
    let words = match result.status {
        said if said == status(&ToolResult { is_error, ..*result }) => return TellsEnd::Itself,
        ResultStatus::Denied if result.content.texts().all(Str::is_empty) => "[Operation Cancelled] Reason: User did not allow tool call",
        ResultStatus::Denied => "[Operation Cancelled] Reason: ",
        ResultStatus::Canceled => ABORTED,
        _ => return TellsEnd::Itself,
    };
    TellsEnd::InWords { words, at }
}

/// How a call went, told by the program's own sentences (recordings `ctl_perm_*`, `ctl_interrupt_perm`, `ctl_eof_pending_perm`,
/// `ctl_subagent_perm_shell`, `permission_denied_*`, `ctl_set_permission_mode`).
pub(crate) fn status(result: &ToolResult<'_>) -> ResultStatus {
    if result.is_error != Some(true) {
        return ResultStatus::Success;
    }
    let text = match result.content {
        Content::Text(text) => text.as_escaped(),
        Content::Blocks([Block::Text { text, .. }, ..]) => text.as_escaped(),
        Content::Blocks(_) => "",
    };
    if let Some(reason) = text.strip_prefix("[Operation Cancelled] Reason: ") {
        // The two ways in which an interrupt ends a call; every other reason is somebody's refusal, or the lack of an answer.
        let interrupted = reason == "Error: Request aborted" || reason.contains("User intentionally cancelled");
        return if interrupted { ResultStatus::Canceled } else { ResultStatus::Denied };
    }
    if text.starts_with(ABORTED) {
        return ResultStatus::Canceled;
    }
    let by_rule = text.starts_with("Qwen Code requires permission to use ") && text.contains("that permission was declined");
    if by_rule || text.starts_with("Plan mode blocked ") {
        return ResultStatus::Denied;
    }
    ResultStatus::Error
}
