//! Commands that a Markdown file of the project or the user stands for.

use std::rc::Rc;
use std::time::Duration;

use agentglot_process::{Child, Environment, Exit, Limits, Plan};
use serde_json::{Value, json};

use super::request::ChatRequests;
use super::{Given, failed};
use crate::settings::CommandFile;
use crate::turn::context::Context;

/// So long may a command take that stands in a prompt, and so much may it print.
const PATIENCE: Duration = Duration::from_secs(30);
const MOST: usize = 64 << 10;

/// The command of this name.
pub(super) fn find(context: &Context, given: &Given) -> Option<CommandFile> {
    let name = given.path.join(":");
    context.settings.get().commands.iter().find(|command| command.name == name).cloned()
}

/// The commands between `!{` and the brace that closes it, and where each stands.
fn shells(prompt: &str) -> Vec<(std::ops::Range<usize>, String)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = prompt[from..].find("!{").map(|at| from + at) {
        let mut depth = 0_usize;
        let end = prompt[at + 1..].char_indices().find_map(|(offset, c)| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            (depth == 0).then_some(at + 1 + offset)
        });
        let Some(end) = end else { break };
        found.push((at..end + 1, prompt[at + 2..end].trim().to_owned()));
        from = end + 1;
    }
    found
}

/// What the RFC's host is told: the prompt to submit, or the commands that the user has to allow before.
pub(super) async fn result(context: &Rc<Context>, chats: &ChatRequests, command: &CommandFile, given: &Given) -> Value {
    // What the user wrote never becomes a command: the places are those of the file.
    let wanted: Vec<String> = shells(&command.prompt).into_iter().map(|(_, text)| text).collect();
    if given.outcome.as_deref() == Some("cancel") {
        return super::message("info", "Operation cancelled.");
    }
    let open: Vec<&String> = {
        let allowed = chats.allowed.borrow();
        let is_open = |one: &&String| !given.approved.contains(one) && !allowed.contains(*one);
        wanted.iter().filter(is_open).collect()
    };
    if !open.is_empty() {
        return json!({"type": "confirm_shell_commands", "commands": open});
    }
    if given.outcome.as_deref() == Some("always") {
        chats.allowed.borrow_mut().extend(wanted);
    }
    match prompt(context, command, &given.args, true).await {
        Ok(text) => json!({"type": "submit_prompt", "parts": [{"type": "text", "text": text}]}),
        Err(why) => failed(why),
    }
}

/// The prompt with what its commands print, if they may run.
pub(super) async fn prompt(context: &Rc<Context>, command: &CommandFile, args: &str, may_run: bool) -> Result<String, String> {
    let found = shells(&command.prompt);
    // Elsewhere nobody is asked about them: they stay text.
    let runs = may_run && context.persona.commands.reads == crate::persona::commands::Reads::Requests;
    if found.is_empty() || !runs {
        return Ok(command.prompt_for(args));
    }
    // Marks keep what is printed apart from what the arguments stand for.
    let mut marked = String::new();
    let mut last = 0;
    let mut printed = Vec::new();
    for (number, (range, text)) in found.into_iter().enumerate() {
        marked.push_str(&command.prompt[last..range.start]);
        marked.push_str(&format!("\u{1}{number}\u{1}"));
        last = range.end;
        printed.push(run(context, &text).await?);
    }
    marked.push_str(&command.prompt[last..]);
    let file = CommandFile {
        prompt: marked,
        ..command.clone()
    };
    let mut text = file.prompt_for(&args.replace('\u{1}', ""));
    for (number, printed) in printed.iter().enumerate() {
        text = text.replacen(&format!("\u{1}{number}\u{1}"), &printed.replace('\u{1}', ""), 1);
    }
    Ok(text)
}

async fn run(context: &Context, text: &str) -> Result<String, String> {
    let all = context.world.environment.iter();
    let plan = Plan {
        env: all.fold(Environment::nothing(), |env, (name, value)| env.set(name, value)),
        cwd: Some(context.world.wall.root().to_owned()),
        limits: Limits {
            stderr_tail: MOST,
            ..Limits::default()
        },
        ..Plan::new("/bin/sh")
    };
    let cancel = context.turns.cancel();
    let ended = async {
        let child = Child::start(plan.args(["-c", text])).map_err(|error| format!("{text} cannot be run: {error}"))?;
        child.close_stdin();
        let (mut said, mut room) = (Vec::new(), vec![0; 16 << 10]);
        while let Ok(read @ 1..) = child.read(&mut room).await {
            said.extend_from_slice(&room[..read.min(MOST - said.len())]);
        }
        Ok::<_, String>((said, child.ended().await))
    };
    // What has not ended is ended, with all that it started, when the child is dropped.
    let (mut said, ending) = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err("Operation cancelled.".to_owned()),
        ended = tokio::time::timeout(PATIENCE, ended) => match ended {
            Ok(ended) => ended?,
            Err(_) => return Err(format!("{text} has not ended within {} s", PATIENCE.as_secs())),
        },
    };
    let room = MOST - said.len();
    said.extend_from_slice(&ending.stderr_tail[..ending.stderr_tail.len().min(room)]);
    let mut said = String::from_utf8_lossy(&said).into_owned();
    if let Some(Exit::Code(code)) = ending.exit.filter(|exit| !exit.is_success()) {
        said.push_str(&format!("\n[exit code {code}]"));
    }
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_stand_between_braces() {
        let texts = |prompt: &str| shells(prompt).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts("a !{git diff} b !{ awk '{print}' } c"), ["git diff", "awk '{print}'"]);
        assert!(texts("a !{never closed").is_empty());
    }
}
