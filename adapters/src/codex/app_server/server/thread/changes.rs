//! What is done with a thread besides its turns: it gets a name, is made shorter, goes back.

use super::super::history::Cut;
use super::super::words::{self, Wrong};
use super::{Asked, Settings, Thread, Turn, event};
use crate::event::{ControlKind, Kind, Session};
use crate::json::Raw;
use crate::launch::Resume;
use crate::server::inside::Part;
use crate::server::{Action, Actions, Mark};

/// What makes a conversation shorter, as a command of the program inside.
pub(super) const COMPACT: &str = "compact";

/// A thread goes back, or has gone back.
#[derive(Debug)]
pub(super) struct Back {
    /// To where.
    cut: Cut,
    /// The request that waits for it, and the turns that it is to be told.
    request: Option<(String, Option<String>)>,
}

impl Thread {
    /// The host calls it so. The program inside keeps the name, if it is one that does.
    pub(in super::super) fn rename(&mut self, request: &str, name: &str, actions: &mut Actions) {
        self.facts.name = Some(name.to_owned());
        let asked = Asked::Name(request.to_owned(), name.to_owned());
        self.request("rename_session", ControlKind::Other, Some(("title", name)), asked, actions);
    }

    /// What the program inside does not keep, others do.
    pub(super) fn keep_name(&self, request: String, name: String, actions: &mut Actions) {
        actions.todo.push(Action::Mark {
            request,
            session: self.id.clone(),
            mark: Mark::Name(name),
        });
    }

    /// Names that the program inside has not answered for are kept without it.
    pub(super) fn name_all(&mut self, actions: &mut Actions) {
        for asked in std::mem::take(&mut self.asked).into_values() {
            if let Asked::Name(request, name) = asked {
                self.keep_name(request, name, actions);
            }
        }
    }

    /// The conversation is made shorter, in a turn of its own.
    pub(in super::super) fn compact(&mut self, request: &str, id: String, now: i64, actions: &mut Actions) -> Result<(), Wrong> {
        if !self.compacts {
            return Err(Wrong::request(
                "the agent of this thread does not make conversations shorter when it is told to",
            ));
        }
        words::answer(request, "{}", actions);
        let settings = self.settings(Raw::trusted("{}"))?;
        let Settings { policy, model, .. } = settings;
        let settings = Settings {
            policy,
            model,
            schema: self.launch.json_schema.clone(),
        };
        self.waiting.push_back(Turn {
            id,
            parts: Vec::new(),
            settings,
        });
        self.next(now, actions);
        Ok(())
    }

    /// The turn that does it begins.
    pub(super) fn shorten(&mut self, id: &str, now: i64, actions: &mut Actions) {
        let session = Session {
            opens_turn: true,
            ..Session::default()
        };
        self.show(&event(Kind::Session(&session)), now, actions);
        let command = Part::Text(format!("/{COMPACT}"));
        self.inside.prompt_as(Some(id), &[command], false, actions);
    }

    /// It goes back to where this message was the last one.
    pub(in super::super) fn go_back(
        &mut self,
        request: String,
        end: Option<String>,
        cut: Cut,
        turns: Option<String>,
        actions: &mut Actions,
    ) -> Result<(), Wrong> {
        if self.running.is_some() || self.goes_back() {
            return Err(Wrong::request("a turn is in progress: interrupt it first"));
        }
        let end = end.ok_or_else(|| Wrong::request("nothing would be left of the thread: begin another one"))?;
        self.launch.resume = Resume::Session(self.kept_as.clone());
        self.launch.resume_at = Some(end);
        self.launch.fork = false;
        self.launch.session_id = None;
        self.turns = 0;
        self.back = Some(Back {
            cut,
            request: Some((request, turns)),
        });
        self.begin_anew(actions);
        Ok(())
    }

    pub(super) fn goes_back(&self) -> bool {
        self.back.as_ref().is_some_and(|back| back.request.is_some())
    }

    /// Where it has gone back to, if nothing was said since.
    pub(in super::super) fn went_back(&self) -> Option<&Cut> {
        self.back.as_ref().filter(|_| self.turns == 0).map(|back| &back.cut)
    }

    pub(super) fn is_back(&mut self, now: i64, actions: &mut Actions) {
        let Some((request, turns)) = self.back.as_mut().and_then(|back| back.request.take()) else {
            return;
        };
        let thread = self.object_with(turns.as_deref().unwrap_or_default());
        let answer = format!("{{\"thread\":{thread},\"turnsBackwardsCursor\":null,\"itemsBackwardsCursor\":null}}");
        words::answer(&request, &answer, actions);
        words::notify("thread/reverted", &format!("{{\"threadId\":\"{}\"}}", self.id), now, actions);
    }

    /// It is over: what waits is answered.
    pub(super) fn leave_changes(&mut self, why: &str, actions: &mut Actions) {
        self.name_all(actions);
        if let Some((request, _)) = self.back.take().and_then(|back| back.request) {
            words::refuse(&request, &Wrong::internal(why), actions);
        }
    }
}

/// Whether the program inside has a command, as it says when it is greeted.
pub(super) fn has_command(greeting: Raw<'_>, name: &str) -> bool {
    let mut commands = greeting.get("commands").into_iter().flat_map(Raw::elements);
    commands.any(|command| command.get("name").and_then(Raw::string).is_some_and(|known| known.is(name)))
}
