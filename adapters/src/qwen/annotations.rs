//! Reading annotations: the five types of the RFC in every spelling of both of its texts.

use bumpalo::collections::Vec as ArenaVec;

use super::fields::knows;
use crate::chat::{FieldList, Members, inner};
use crate::codec::Cx;
use crate::event::{At, Fields, Notice, ResultStatus, Terminal, Topic};
use crate::json::{Cursor, Error, Raw, Shape, Str};

/// One annotation of a message or delta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Annotation<'a> {
    /// What it says.
    pub(super) kind: AnnotationKind<'a>,
    /// Its members without a place in the model.
    pub(super) fields: Fields<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AnnotationKind<'a> {
    /// `x-qwen-thought`.
    Thought { subject: Option<Str<'a>>, description: Str<'a> },
    /// `x-qwen-terminal` and `x-qwen-ansi`.
    Terminal { terminal: Terminal<'a>, turn: Option<Str<'a>> },
    /// `x-qwen-tool-display`.
    Display(Display<'a>),
    /// `x-qwen-session-event`.
    Notice(Notice<'a>),
    /// Any other, as written.
    Other(Raw<'a>),
}

/// A tool call on its way, or its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Display<'a> {
    pub(super) call: Str<'a>,
    pub(super) status: Status<'a>,
    pub(super) shown: Option<Raw<'a>>,
    pub(super) confirmation: Option<Raw<'a>>,
    /// `timestamp`, under its key.
    pub(super) timestamp: Option<(Str<'a>, Raw<'a>)>,
}

/// The `status` of a call: where it is, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Status<'a> {
    OnItsWay(Str<'a>),
    Final(ResultStatus),
}

/// The annotations of one line, as they are read.
#[derive(Debug)]
pub(super) struct Annotations<'a> {
    pub(super) list: ArenaVec<'a, Annotation<'a>>,
}

impl<'a> Annotations<'a> {
    pub(super) fn new(cx: &Cx<'a>) -> Self {
        Self {
            list: ArenaVec::new_in(cx.arena),
        }
    }

    /// Reads the array at the cursor.
    pub(super) fn read(&mut self, at: &mut Cursor<'a>, cx: &Cx<'a>) -> Result<(), Error> {
        let mut array = at.array()?;
        while array.more(at)? {
            let n = self.list.len() as u32;
            at.peek();
            let before = at.rest();
            let annotation = if at.shape()? == Shape::Object {
                let members = Members::read(at, cx)?;
                let raw = Raw::trusted(&before[..before.len() - at.rest().len()]);
                annotation(members, raw, n, cx)
            } else {
                Annotation {
                    kind: AnnotationKind::Other(at.raw()?),
                    fields: &[],
                }
            };
            self.list.push(annotation);
        }
        Ok(())
    }
}

/// Reads one annotation; `n` is its place in the line.
pub(super) fn annotation<'a>(mut members: Members<'a>, raw: Raw<'a>, n: u32, cx: &Cx<'a>) -> Annotation<'a> {
    let other = Annotation {
        kind: AnnotationKind::Other(raw),
        fields: &[],
    };
    let kind = members.get("type").and_then(inner).unwrap_or_default();
    let kind = match &*kind.unescape() {
        "x-qwen-thought" => {
            let description = members.text("description", cx).unwrap_or_default();
            let subject = members.text("subject", cx);
            subject.filter(|s| s.is_empty()).inspect(|s| cx.took(s.as_escaped()));
            AnnotationKind::Thought {
                subject: subject.filter(|s| !s.is_empty()),
                description,
            }
        }
        "x-qwen-terminal" => terminal(&mut members, cx),
        "x-qwen-ansi" => {
            let Some(value) = members.text("value", cx) else { return other };
            AnnotationKind::Terminal {
                terminal: Terminal {
                    raw_ansi: Some(value),
                    ..Terminal::default()
                },
                turn: None,
            }
        }
        "x-qwen-tool-display" => match display(&mut members, cx) {
            Some(display) => AnnotationKind::Display(display),
            None => return other,
        },
        "x-qwen-session-event" => match notice(&mut members, cx) {
            Some(notice) => AnnotationKind::Notice(notice),
            None => return other,
        },
        _ => return other,
    };
    members.word("type", cx);
    if let Some(index) = members
        .shaped("index", Shape::Number, cx)
        .filter(|index| index.u64() == Some(u64::from(n)))
    {
        cx.took(index.as_str());
    }
    let mut fields = FieldList::new_in(cx.arena);
    // An event of its own stands in a line of its own when it is written.
    let n = if matches!(kind, AnnotationKind::Thought { .. }) { n } else { 0 };
    members.pour(At::Block(n), knows, &mut fields);
    Annotation {
        kind,
        fields: fields.into_bump_slice(),
    }
}

fn terminal<'a>(members: &mut Members<'a>, cx: &Cx<'a>) -> AnnotationKind<'a> {
    let turn = members.text("prompt_id", cx);
    let list = |raw: Option<Raw<'a>>, from: &[(&str, &str)]| raw.map(|raw| respelled(raw, from, cx));
    let spans = members.shaped("spans", Shape::Array, cx);
    let ansi = members.shaped("ansi", Shape::Array, cx);
    let terminal = Terminal {
        text: None,
        channel: members.text("channel", cx),
        source: members.text("source", cx),
        spans: list(spans, &[("start", "start_index"), ("end", "end_index")]),
        ansi: list(ansi, &[("code", "sequence")]),
        level: members.text("console_level", cx),
        exit_code: members.shaped("exit_code", Shape::Number, cx),
        raw_ansi: None,
    };
    AnnotationKind::Terminal { terminal, turn }
}

fn display<'a>(members: &mut Members<'a>, cx: &Cx<'a>) -> Option<Display<'a>> {
    members.get("tool_call_id").and_then(inner)?;
    let word = members.get("status").and_then(inner)?;
    let status = Status::read(word)?;
    members.word("status", cx);
    for name in ["confirmation", "pending"] {
        if members.get(name).is_some_and(|v| v.is_null() || v.bool() == Some(false))
            && let Some(nothing) = members.take(name, cx)
        {
            cx.took(nothing.as_str());
        }
    }
    let confirmation = match status {
        Status::OnItsWay(_) => members.take("confirmation", cx),
        Status::Final(_) => None,
    };
    Some(Display {
        call: members.text("tool_call_id", cx)?,
        status,
        shown: members.take("result_display", cx),
        confirmation,
        timestamp: members.key("timestamp").zip(members.shaped("timestamp", Shape::Number, cx)),
    })
}

/// Reads `event`, `message` and `metrics` of a session event, on its own line or as an annotation.
pub(super) fn notice<'a>(members: &mut Members<'a>, cx: &Cx<'a>) -> Option<Notice<'a>> {
    let name = members.text("event", cx)?;
    Some(Notice {
        name,
        topic: topic(name),
        message: members.text("message", cx),
        data: members.take("metrics", cx),
    })
}

/// What a session event is about. The names are those of the program's own event types, and constants beside them.
fn topic(name: Str<'_>) -> Topic {
    match &*name.unescape() {
        "ChatCompressed" | "CHAT_COMPRESSED" => Topic::Compaction,
        "MaxSessionTurns" | "MAX_SESSION_TURNS" | "SessionTokenLimitExceeded" | "SESSION_TOKEN_LIMIT_EXCEEDED" | "MAX_TOKENS" | "LoopDetected" => {
            Topic::Limit
        }
        "UserCancelled" | "USER_CANCELLED" => Topic::Cancelled,
        "Finished" => Topic::Status,
        "Retry" => Topic::Retry,
        _ => Topic::Other,
    }
}

impl<'a> Status<'a> {
    /// Reads the word in lower or camel case.
    fn read(word: Str<'a>) -> Option<Self> {
        let plain = word.unescape().to_ascii_lowercase();
        Some(match plain.as_str() {
            "success" => Self::Final(ResultStatus::Success),
            "error" => Self::Final(ResultStatus::Error),
            "canceled" | "cancelled" => Self::Final(ResultStatus::Canceled),
            "pending" => Self::OnItsWay(Str::trusted("pending")),
            "executing" => Self::OnItsWay(Str::trusted("executing")),
            "confirming" => Self::OnItsWay(Str::trusted("confirming")),
            _ => return None,
        })
    }
}

/// A list of objects with its members called as we call them. As written, when they are.
fn respelled<'a>(list: Raw<'a>, names: &[(&str, &str)], cx: &Cx<'a>) -> Raw<'a> {
    let renamed = |key: Str<'_>| names.iter().find(|(old, _)| key.is(old)).map(|(_, new)| *new);
    let is_old = |object: Raw<'a>| object.members().any(|(key, _)| renamed(key).is_some());
    if !list.elements().any(is_old) {
        return list;
    }
    let mut text = String::with_capacity(list.as_str().len() + 32);
    let mut before = '[';
    for element in list.elements() {
        text.push(before);
        before = ',';
        if element.shape() != Some(Shape::Object) {
            text.push_str(element.as_str());
            continue;
        }
        let mut before = '{';
        for (key, value) in element.members() {
            text.push(before);
            before = ',';
            text.push('"');
            text.push_str(renamed(key).unwrap_or(key.as_escaped()));
            text.push_str("\":");
            text.push_str(value.as_str());
        }
        text.push_str(if before == '{' { "{}" } else { "}" });
    }
    text.push(']');
    let text = cx.arena.alloc_str(&text);
    cx.stands_for(text, list.as_str());
    Raw::trusted(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bumpalo::Bump;

    fn read<'a>(text: &'a str, arena: &'a Bump) -> Annotation<'a> {
        let cx = Cx::new(arena);
        let mut annotations = Annotations::new(&cx);
        annotations.read(&mut Cursor::new(text), &cx).unwrap();
        annotations.list[0]
    }

    #[test]
    fn spellings_of_both_texts_say_the_same() {
        let arena = Bump::new();
        let zh = r#"[{"type":"x-qwen-terminal","channel":"stdout","source":"assistant","spans":[{"start":0,"end":2,"style":{"theme_token":"AccentGreen"}}],"ansi":[{"offset":0,"code":"\u001b[32m"}],"exit_code":null,"prompt_id":"s########7"}]"#;
        let en = r#"[{"type":"x-qwen-terminal","channel":"stdout","source":"assistant","spans":[{"start_index":0,"end_index":2,"style":{"theme_token":"AccentGreen"}}],"ansi":[{"offset":0,"sequence":"\u001b[32m"}],"prompt_id":"s########7","index":4}]"#;
        assert_eq!(read(zh, &arena), read(en, &arena));
        let camel = r#"[{"type":"x-qwen-tool-display","tool_call_id":"c","status":"Canceled","confirmation":null,"pending":false}]"#;
        let lower = r#"[{"type":"x-qwen-tool-display","tool_call_id":"c","status":"cancelled"}]"#;
        assert_eq!(read(camel, &arena), read(lower, &arena));
    }

    #[test]
    fn what_is_no_annotation_of_the_rfc_is_kept() {
        let arena = Bump::new();
        for text in [
            r#"{"subject":"no type"}"#,
            "5",
            "null",
            r#"{"type":"x-qwen-zz"}"#,
            r#"{"type":"x-qwen-tool-display","status":"zz","tool_call_id":"c"}"#,
        ] {
            let list = format!("[{text}]");
            assert_eq!(read(&list, &arena).kind, AnnotationKind::Other(Raw::trusted(text)));
        }
    }
}
