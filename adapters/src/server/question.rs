//! What the program of a session asks its host: whether a call may run.

use crate::event::{Request, Response};
use crate::json::{Raw, Str};

/// A question that waits for the host.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) session: String,
    /// The id that the program knows it by, escaped.
    pub(crate) id: String,
    /// The arguments of the call.
    input: String,
    /// What may be allowed together with it, in the program's own form.
    always: Option<String>,
}

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Allow,
    /// From now on.
    Always,
    Deny,
    /// And the turn is to end.
    Stop,
    /// Nobody has decided, for this reason: a text that needs no escapes.
    Nothing(&'static str),
}

impl Question {
    /// What a session asks, if it is a question for permission.
    pub(crate) fn of(session: &str, request: &Request<'_>) -> Option<Self> {
        let permission = request.permission?;
        let always = permission.suggestions.filter(|list| list.elements().next().is_some());
        Some(Self {
            session: session.to_owned(),
            id: request.id?.as_escaped().to_owned(),
            input: permission.input.map_or("{}", Raw::as_str).to_owned(),
            always: always.map(|list| list.as_str().to_owned()),
        })
    }

    /// The arguments of the call that is asked about.
    pub(crate) fn input(&self) -> Raw<'_> {
        Raw::trusted(&self.input)
    }

    /// Whether it can be allowed from now on.
    pub(crate) const fn is_lasting(&self) -> bool {
        self.always.is_some()
    }

    /// The answer that the program is to have.
    pub(crate) fn answered(&self, decision: Decision, tell: impl FnOnce(&Response<'_>)) {
        let input = &self.input;
        let body = match decision {
            Decision::Allow => format!("{{\"behavior\":\"allow\",\"updatedInput\":{input}}}"),
            Decision::Always => {
                let rules = self.always.as_deref().unwrap_or("[]");
                format!("{{\"behavior\":\"allow\",\"updatedInput\":{input},\"updatedPermissions\":{rules}}}")
            }
            Decision::Deny => "{\"behavior\":\"deny\",\"message\":\"The user does not want this.\"}".to_owned(),
            Decision::Stop => "{\"behavior\":\"deny\",\"message\":\"The user stopped the turn.\",\"interrupt\":true}".to_owned(),
            Decision::Nothing(why) => format!("{{\"behavior\":\"deny\",\"message\":\"{why}\"}}"),
        };
        tell(&Response {
            id: Some(Str::trusted(&self.id)),
            ok: true,
            body: Some(Raw::trusted(&body)),
            error: None,
        });
    }
}

/// The answer to a question of any other kind.
pub(crate) fn unanswerable(request: &Request<'_>, tell: impl FnOnce(&Response<'_>)) {
    tell(&Response {
        id: request.id,
        ok: false,
        body: None,
        error: Some(Raw::trusted("\"the host cannot be asked this\"")),
    });
}
