//! What an agent is asked of the sessions that it keeps, in place of holding one with it.

use super::messages::{self, tell};
use super::{Asked, Conversation, Dir};
use crate::client::{Exchange, Inquiry};
use crate::conduct::quoted;
use crate::event::Time;
use crate::json::{Raw, Str};
use crate::server::Listed;

impl Conversation {
    /// The handshake is over: asks.
    pub(super) fn inquire_now(&mut self, inquiry: &Inquiry, exchange: &mut Exchange) {
        match inquiry {
            Inquiry::Sessions { .. } if self.can.list => self.ask_for_page(None, exchange),
            Inquiry::Sessions { .. } => self.told_all(exchange),
            Inquiry::Said(id) if self.can.load => {
                self.session.clear();
                Str::escape(id, &mut self.session);
                let opening = messages::opening(&self.launch, &self.can, self.serves.as_ref(), &mut exchange.notes);
                let params = format!("{{\"sessionId\":\"{}\",{opening}}}", self.session);
                let message = self.ask("session/load", &params, Asked::Open("session/load"), exchange);
                tell(Dir::Ours, &message, exchange);
            }
            Inquiry::Said(_) if self.can.resume => {
                exchange
                    .notes
                    .push("the agent goes on with its sessions, and does not say again what was said".to_owned());
                self.told_all(exchange);
            }
            Inquiry::Said(_) => self.end("the agent cannot go on with a session that it had before".to_owned(), exchange),
        }
    }

    /// The agent names sessions. Of a long list it names some at a time.
    pub(super) fn named(&mut self, result: Raw<'_>, exchange: &mut Exchange) {
        let text = |session: Raw<'_>, name: &str| Some(session.get(name)?.string()?.unescape().into_owned());
        let listed = |session: Raw<'_>| {
            let written = session.get("updatedAt").and_then(Raw::string).and_then(|time| Time::Iso(time).millis());
            Some(Listed {
                id: text(session, "sessionId")?,
                cwd: text(session, "cwd")?,
                title: text(session, "title"),
                name: None,
                written: written.unwrap_or_default(),
                archived: false,
            })
        };
        let before = self.sessions.len();
        self.sessions
            .extend(result.get("sessions").into_iter().flat_map(Raw::elements).filter_map(listed));
        match text(result, "nextCursor").filter(|cursor| !cursor.is_empty() && self.sessions.len() > before) {
            Some(cursor) => self.ask_for_page(Some(&cursor), exchange),
            None => self.told_all(exchange),
        }
    }

    /// The inquiry is answered: nothing else is wanted of the agent.
    pub(super) fn told_all(&mut self, exchange: &mut Exchange) {
        self.end(String::new(), exchange);
    }

    fn ask_for_page(&mut self, cursor: Option<&str>, exchange: &mut Exchange) {
        let cwd = match &self.inquiry {
            Some(Inquiry::Sessions { cwd }) => cwd.as_deref(),
            _ => None,
        };
        let members = [("cwd", cwd), ("cursor", cursor)];
        let members: Vec<String> = members
            .into_iter()
            .filter_map(|(name, value)| Some(format!("\"{name}\":{}", quoted(value?))))
            .collect();
        self.ask("session/list", &format!("{{{}}}", members.join(",")), Asked::List, exchange);
    }
}
