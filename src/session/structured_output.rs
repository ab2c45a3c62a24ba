//! Answers in the form of the host's JSON schema, from programs that know nothing of it.

use super::Session;
use super::final_text::Spoken;
use crate::adapters::raw::event::{Event, Fields, Kind, Limit, Outcome, OutcomeKind, Request};
use crate::adapters::raw::json::{Raw, Str};
use crate::adapters::raw::launch::Launch;
use crate::agent::answer_of_schema;

/// Why a turn has failed that ended well.
const NO_ANSWER: &str = "Failed to provide valid structured output: what the agent has answered is no JSON of the schema that was asked for";

impl Session {
    /// The host may name its schema when it begins.
    pub(super) fn hear_schema(&mut self, request: &Request<'_>, fields: Fields<'_>) {
        let mut launch = Launch::new(self.host.format);
        self.conduct.amend(request, fields, &mut launch);
        if launch.json_schema.is_some() {
            self.host.schema = launch.json_schema;
            self.spoken.get_or_insert_with(Spoken::default);
        }
    }

    /// Lets `tell` have the outcome of a turn with the answer that the host's schema asks for. An agent that gives none by itself may have given it as
    /// its text; if not, the turn has failed: a host that reads the answer would find none and not know why.
    pub(super) fn with_answer(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, tell: impl FnOnce(&mut Self, &Event<'_>, &Outcome<'_>)) {
        let wants = !self.same && !self.host.agent && outcome.kind == OutcomeKind::Success && outcome.structured.is_none();
        // A schema may be named by its file, which is for the program.
        let schema = self
            .host
            .schema
            .as_deref()
            .filter(|_| wants)
            .and_then(|schema| serde_json::from_str(schema).ok());
        let Some(schema) = schema else { return tell(self, event, outcome) };
        let said = outcome.text.map(|text| text.unescape().into_owned());
        let said = said.filter(|text| !text.is_empty());
        let said = said.or_else(|| self.spoken.as_ref().and_then(Spoken::last).map(str::to_owned));
        let answer = answer_of_schema(&schema, &said.unwrap_or_default()).map(|answer| answer.to_string());
        let outcome = match &answer {
            Some(answer) => Outcome {
                structured: Some(Raw::trusted(answer)),
                ..*outcome
            },
            None => {
                let failed = Outcome::new(OutcomeKind::Limit(Limit::Retries));
                Outcome {
                    kind: failed.kind,
                    is_error: failed.is_error,
                    word: None,
                    text: None,
                    error: Some(Str::trusted(NO_ANSWER)),
                    ..*outcome
                }
            }
        };
        let kind = Kind::Outcome(&outcome);
        tell(self, &Event { kind, ..*event }, &outcome);
    }
}
