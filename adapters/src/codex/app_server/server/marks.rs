//! What hosts want to be kept of threads: their names, whether they are put away, that they are no more.

use super::requests::thread_id;
use super::words::{self, Wrong, quoted_or_null};
use super::{Threads, first_of, no_rollout};
use crate::conduct::quoted;
use crate::json::Raw;
use crate::server::{Action, Actions, Listed, Mark};

/// What a request wants to be kept.
#[derive(Debug)]
pub(super) struct Wish {
    mark: Mark,
    /// The thread was open here: nobody need keep it already.
    open: bool,
}

impl Threads {
    /// A request wants something to be kept of a thread. One that is put away or removed is closed before.
    pub(super) fn mark(&mut self, request: &str, params: Raw<'_>, mark: Mark, actions: &mut Actions) -> Result<(), Wrong> {
        let id = thread_id(params)?;
        let mut thread = self.threads.get_mut(&id).filter(|thread| thread.is_open());
        let wish = Wish {
            mark: mark.clone(),
            open: thread.is_some(),
        };
        match (&mark, &mut thread) {
            (Mark::Name(name), Some(thread)) => thread.rename(request, name, actions),
            (Mark::Archived | Mark::Deleted, Some(_)) => self.put_away(&id, actions),
            _ => {}
        }
        if !(wish.open && matches!(mark, Mark::Name(_))) {
            actions.todo.push(Action::Mark {
                request: request.to_owned(),
                session: id,
                mark,
            });
        }
        self.marking.entry(request.to_owned()).or_default().push_back(wish);
        Ok(())
    }

    fn put_away(&mut self, id: &str, actions: &mut Actions) {
        self.withdraw(|question| question.session == id, actions);
        if let Some(mut thread) = self.threads.remove(id) {
            let now = (self.setup.now)();
            thread.leave("the host has put the thread away", now, actions);
            thread.status("{\"type\":\"notLoaded\"}", now, actions);
        }
        actions.todo.push(Action::Close(id.to_owned()));
    }

    /// It is kept, or there is no such thread.
    pub(super) fn marked(&mut self, request: &str, id: &str, found: Result<Option<&Listed>, &str>, actions: &mut Actions) -> Result<(), Wrong> {
        let Some(Wish { mark, open }) = first_of(&mut self.marking, request) else {
            return Ok(());
        };
        let found = match found {
            Err(why) => return Err(Wrong::internal(why)),
            Ok(None) if mark == Mark::Unarchived => {
                return Err(Wrong::request(format!("no archived rollout found for thread id {id}")));
            }
            Ok(None) if !open => return Err(no_rollout(id)),
            Ok(found) => found,
        };
        let (answer, method) = match &mark {
            Mark::Name(_) => ("{}".to_owned(), "thread/name/updated"),
            Mark::Archived => ("{}".to_owned(), "thread/archived"),
            Mark::Deleted => ("{}".to_owned(), "thread/deleted"),
            Mark::Unarchived => {
                let cwd = found.map_or("/", |found| &found.cwd);
                let thread = self.facts(found).object(id, cwd, None, "{\"type\":\"notLoaded\"}");
                (format!("{{\"thread\":{thread}}}"), "thread/unarchived")
            }
        };
        words::answer(request, &answer, actions);
        let name = match &mark {
            Mark::Name(name) => format!(",\"threadName\":{}", quoted_or_null(Some(name))),
            _ => String::new(),
        };
        let params = format!("{{\"threadId\":{}{name}}}", quoted(id));
        words::notify(method, &params, (self.setup.now)(), actions);
        Ok(())
    }
}
