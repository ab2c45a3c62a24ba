//! One chat object of the RFC, opened, and what the end of a reply says.

use super::annotations::{AnnotationKind, Annotations};
use super::fields::knows;
use super::metadata::Meta;
use crate::chat::{Choice, Envelope, FieldList, Form, Members, inner};
use crate::codec::Cx;
use crate::event::{At, Field, Fields, Limit, Outcome, OutcomeKind, Place, Stop, StopKind, Terminal, Usage};
use crate::json::{Raw, Str};

/// A reply's end that is the turn's, unless a summary comes or the turn goes on.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub(super) word: String,
    pub(super) error: Option<String>,
    pub(super) usage: Option<Usage<'static>>,
}

impl End {
    /// Where a reply ends the turn: not where tools follow.
    pub(super) fn of_reply(stop: Stop<'_>, error: Option<Str<'_>>) -> Option<Self> {
        (stop.kind != StopKind::Tools).then(|| Self {
            word: stop.word.as_escaped().to_owned(),
            error: error.map(|e| e.as_escaped().to_owned()),
            usage: None,
        })
    }
}

/// One chat object, opened: what its two kinds have in common.
pub(super) struct Line<'a> {
    pub(super) envelope: Envelope<'a>,
    pub(super) notes: Annotations<'a>,
    pub(super) meta: Meta<'a>,
    pub(super) model: Option<Str<'a>>,
}

/// Terminal output, its turn and its fields.
pub(super) type Shown<'a> = (Terminal<'a>, Option<Str<'a>>, Fields<'a>);

impl<'a> Line<'a> {
    /// The first choice, empty if there is none.
    pub(super) fn choice(&self) -> Choice<'a> {
        self.envelope.choice.unwrap_or_default()
    }

    /// Whether the line says that the version which the host wants is not spoken.
    pub(super) fn is_refused_version(&self) -> bool {
        let says = |raw: Option<Raw<'a>>| raw.and_then(inner).is_some_and(|error| error.is("unsupported_protocol"));
        let finish = self.envelope.choice.and_then(|c| c.finish);
        finish.is_some_and(|f| f.is("error"))
            && (says(self.meta.error()) || says(self.envelope.usage.and_then(|u| u.raw).and_then(|u| u.get("error"))))
    }

    /// Whether nothing is left to tell behind a receipt.
    pub(super) fn says_nothing(&self) -> bool {
        self.envelope.choice.is_none_or(|c| c.says_nothing()) && self.notes.list.is_empty() && self.envelope.usage.is_none()
    }

    /// Whether the chunk declares a role and nothing else.
    pub(super) fn is_role_only(&self) -> bool {
        let choice = self.choice();
        self.says_nothing() && choice.form == Form::Delta && choice.finish.is_none() && self.meta.is_empty()
    }

    /// The fields of the line so far, and everything at its top that nobody has taken.
    pub(super) fn take_fields(&mut self, cx: &Cx<'a>) -> FieldList<'a> {
        let mut fields = std::mem::replace(&mut self.envelope.fields, FieldList::new_in(cx.arena));
        std::mem::replace(&mut self.envelope.rest, Members::new(cx)).pour(At::Line, knows, &mut fields);
        for (n, annotation) in self.notes.list.iter().enumerate() {
            if let AnnotationKind::Other(raw) = annotation.kind {
                let known = raw.get("type").and_then(inner).is_some_and(|t| t.is("url_citation"));
                fields.push(Field {
                    at: At::Block(n as u32),
                    key: Str::trusted("annotations"),
                    value: raw,
                    known,
                });
            }
        }
        fields
    }

    /// The terminal annotations, each with the text that it shows. Text that the model says is not theirs, and stays.
    pub(super) fn terminals(&mut self) -> Vec<Shown<'a>> {
        let mut found: Vec<Shown<'a>> = Vec::new();
        for annotation in &self.notes.list {
            let AnnotationKind::Terminal { mut terminal, turn } = annotation.kind else {
                continue;
            };
            if let (Some((last, _, _)), Some(ansi)) = (found.last_mut(), terminal.raw_ansi)
                && last.raw_ansi.is_none()
                && annotation.fields.is_empty()
            {
                last.raw_ansi = Some(ansi);
                continue;
            }
            let styles_reply = terminal.source.is_none_or(|s| s.is("assistant")) && terminal.raw_ansi.is_none();
            if !styles_reply && let Some(choice) = &mut self.envelope.choice {
                terminal.text = choice.content.take();
            }
            found.push((terminal, turn, annotation.fields));
        }
        found
    }
}

/// What a turn's last `finish_reason` says of its outcome, where nothing else does.
pub(super) fn outcome_of(finish: Str<'_>) -> Outcome<'static> {
    match Stop::read(finish).kind {
        StopKind::Error => Outcome::new(OutcomeKind::Failed(Place::Model)),
        // The answer was cut short; that is no error.
        StopKind::Length => Outcome {
            is_error: false,
            ..Outcome::new(OutcomeKind::Limit(Limit::Tokens))
        },
        StopKind::Refusal => Outcome::new(OutcomeKind::Refused),
        _ => Outcome::new(OutcomeKind::Success),
    }
}
