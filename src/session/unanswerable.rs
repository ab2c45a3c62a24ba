//! Questions of the agent's that no host can be asked: whoever has asked waits, so each is refused.

use super::Session;
use super::control::fail;
use crate::adapters::raw::event::{At, Fields, Input, InputKind, Request};
use crate::adapters::raw::json::{Raw, Shape, Str};
use crate::backend::Backend;

/// Why a question is refused that is none.
const UNREADABLE: &str = "this request cannot be read";

impl Session {
    /// A line of the agent's that cannot be read. It may have been a question.
    pub(super) fn unreadable(bytes: &[u8], why: &str, backend: &mut dyn Backend) {
        let text = String::from_utf8_lossy(bytes);
        let line = Raw::trusted(text.trim_ascii());
        if line.check().is_ok() && line.shape() == Some(Shape::Object) {
            backend.refuse(line, &format!("{UNREADABLE}: {why}"));
        }
    }

    /// The agent asks what only hosts ask.
    pub(super) fn turned_round(input: &Input<'_>, backend: &mut dyn Backend) {
        let InputKind::Request(request) = input.kind else { return };
        match request.id {
            Some(id) => {
                let why = format!("the host does not answer `{}`", request.subtype.unescape());
                fail(id.as_escaped(), &why, backend);
            }
            None => Self::nameless(request, input.fields, backend),
        }
    }

    /// A question under an id that is no text: what a host answers could not be told from the answer to another one.
    pub(super) fn nameless(request: &Request<'_>, fields: Fields<'_>, backend: &mut dyn Backend) {
        let members: Vec<String> = fields
            .iter()
            .filter(|field| field.at == At::Line)
            .map(|field| format!("\"{}\":{}", field.key.as_escaped(), field.value.as_str()))
            .collect();
        let subtype: Str<'_> = request.subtype;
        let why = format!("{UNREADABLE}: the id of `{}` is no text", subtype.unescape());
        backend.refuse(Raw::trusted(&format!("{{{}}}", members.join(","))), &why);
    }
}
