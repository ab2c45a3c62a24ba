//! Prompts that come while a turn runs, where a vendor's hosts know it so: the model reads them behind the results of its calls, in the turn that
//! runs, and those that wait for the next turn are one prompt. Each of them is answered by the outcome of its turn, and has none of its own.

use std::rc::Rc;

use serde_json::{Value, json};

use crate::conversation::{Conversation, transcript};
use crate::host::event_writer::line_id;
use crate::host::prompts::{HostPrompt, said};
use crate::model::message::Part;
use crate::persona::host::PromptState;
use crate::turn::End;
use crate::turn::context::Context;
use crate::turn::{hooks, mentions};

/// The prompts that wait behind this one, and may be read with it, are put into it.
pub(crate) fn with_those_behind(context: &Context, mut asked: HostPrompt) -> HostPrompt {
    if !context.host.persona.facts().joins_prompts || !asked.waited || !joins(&asked) {
        return asked;
    }
    while let Some(next) = context.host.prompts.take_if(joins) {
        if context.host.launch.replay_user_messages {
            context.host.events.echo(&asked.parts, asked.is_text, &asked.id);
        }
        context.host.events.answered();
        let parts = join(asked.parts, next.parts);
        let mut with = asked.with;
        with.push(asked.id);
        asked = HostPrompt {
            is_text: asked.is_text && next.is_text,
            parts,
            with,
            ..next
        };
    }
    asked
}

/// The model reads what the host has said since the turn began. Returns how the turn ends if a hook wants that.
pub(super) async fn read(context: &Rc<Context>, conversation: &mut Conversation) -> Option<End> {
    if !context.host.persona.facts().joins_prompts {
        return None;
    }
    let mut end = None;
    while let Some(mut asked) = context.host.prompts.take_if(joins) {
        context.host.prompt_is(&asked.id, PromptState::Started);
        context.host.events.answered();
        context.turns.joined.borrow_mut().push(asked.id.clone());
        if asked.id.is_empty() {
            asked.id = line_id();
        }
        let heard = hooks::before_prompt_in_turn(context, &said(&asked.parts)).await;
        if let Some(why) = heard.blocked {
            let text = crate::hooks::blocked_prompt(&why, &said(&asked.parts));
            let became = json!({"kind": "blocked_by_hook", "prompt_kept": false, "reason": why});
            hooks::kept_from_answer(&context.host, &text, &became);
            continue;
        }
        if context.host.launch.replay_user_messages {
            context.host.events.echo(&asked.parts, asked.is_text, &asked.id);
        }
        if !asked.is_verbatim() {
            mentions::expand(context, &mut asked).await;
        }
        asked.turn = context.host.events.turn();
        let mut parts = asked.parts.clone();
        parts.extend(heard.context.map(Part::Text));
        conversation.add_user([Part::Text(BETWEEN.to_owned())]);
        take_in(context, conversation, &asked, parts);
        if let Some(why) = heard.stopped {
            end = Some(End::Held(why));
        }
    }
    end
}

/// A prompt becomes part of the conversation, as these parts.
pub(crate) fn take_in(context: &Context, conversation: &mut Conversation, asked: &HostPrompt, parts: Vec<Part>) {
    let origin = asked.fields.iter().find(|(name, _)| name == "origin").map(|(_, value)| value);
    if !parts.is_empty() {
        let mode = context.policy.borrow().mode_name();
        transcript::prompt(conversation, mode, &parts, &asked.id, &asked.turn, origin);
    }
    asked.files.iter().for_each(|file| transcript::attached(conversation, file));
    if let Some(checkpoints) = &context.store.checkpoints {
        checkpoints.borrow_mut().mark(&asked.id);
    }
    if !parts.is_empty() {
        conversation.add_user(parts);
    }
}

/// What stands before such a prompt.
const BETWEEN: &str = "While you were at work the user has sent what follows. It belongs to this turn: heed it from here on.";

/// Whether a prompt is words for the model, and may be read with others.
fn joins(asked: &HostPrompt) -> bool {
    let is_command = matches!(asked.parts.first(), Some(Part::Text(text)) if text.trim_start().starts_with('/')) && !asked.is_verbatim();
    let has_place = |(name, value): &(String, Value)| name == "priority" && value != "next";
    let is_more = asked.is_own() || asked.notices > 0 || asked.is_only_kept() || asked.chat.is_some() || asked.wanted.is_some();
    !(is_more || is_command || asked.fields.iter().any(has_place))
}

/// Two prompts as one: two texts are a text of two lines.
fn join(mut first: Vec<Part>, second: Vec<Part>) -> Vec<Part> {
    match (&mut first[..], &second[..]) {
        ([Part::Text(first)], [Part::Text(second)]) => {
            first.push('\n');
            first.push_str(second);
        }
        _ => first.extend(second),
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(text: &str) -> HostPrompt {
        HostPrompt {
            parts: vec![Part::Text(text.to_owned())],
            ..HostPrompt::default()
        }
    }

    fn with(name: &str, value: Value) -> HostPrompt {
        HostPrompt {
            fields: vec![(name.to_owned(), value)],
            ..prompt("words")
        }
    }

    #[test]
    fn words_join_and_commands_do_not() {
        assert!(joins(&prompt("and also")));
        assert!(joins(&with("priority", json!("next"))));
        for other in [prompt("/cost"), with("priority", json!("later")), with("shouldQuery", json!(false))] {
            assert!(!joins(&other), "{other:?}");
        }
        let composed = HostPrompt {
            parts: prompt("/cost").parts,
            ..with("client_composed", json!(true))
        };
        assert!(joins(&composed), "that is a text, whatever it looks like");
    }

    #[test]
    fn texts_become_lines_and_others_stay_parts() {
        let text = |text: &str| Part::Text(text.to_owned());
        assert_eq!(join(vec![text("a")], vec![text("b")]), [text("a\nb")]);
        assert_eq!(join(vec![text("a"), text("b")], vec![text("c")]), [text("a"), text("b"), text("c")]);
    }
}
