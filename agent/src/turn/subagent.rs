//! Subagents: a conversation of its own for a part of the work. The model that called it sees its last words alone.

use std::cell::Cell;
use std::rc::Rc;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::host::event_writer::{RunningSubagent, line_id};
use crate::model::message::{Call, Message, Part};
use crate::persona::host::interrupted;
use crate::persona::{GENERAL, SubagentTool};
use crate::settings::subagent::SubagentKind;
use crate::tools::{Cx, Given, Spec, Tool};
use crate::turn::context::Context;
use crate::turn::tasks::{Ended, How, Task};
use crate::turn::{self, End};
use agentglot_adapters::raw::event::{DetailShape, PromptSource, ToolKind};

/// What a call wants of a subagent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    kind: String,
    task: String,
    prompt: String,
    /// The model does not wait for it.
    background: bool,
}

/// The tool that begins a subagent.
#[derive(Debug)]
pub(crate) struct Subagents {
    form: SubagentTool,
    spec: Spec,
}

impl Subagents {
    /// In this form, with the kinds that there are; `background`: whether the model need not wait for them.
    pub(crate) fn new(form: SubagentTool, kinds: impl Iterator<Item = (String, String)>, background: bool) -> Self {
        let mut about =
            "Gives a part of the work to another agent, which has a conversation of its own and answers once, at its end.\n\nKinds:\n".to_owned();
        for (kind, description) in kinds {
            let kind = if kind == GENERAL { form.general } else { &kind };
            about.push_str(&format!("- {kind}: {description}\n"));
        }
        let mut schema = json!({"type": "object", "properties": {}, "required": []});
        let words = [("description", "The task in three to five words")];
        let words = words.into_iter().filter(|_| form.has_description);
        let words = words.chain([
            ("prompt", "The whole task; the agent sees nothing else"),
            (form.kind, "The kind of agent"),
        ]);
        for (name, about) in words {
            schema["properties"][name] = json!({"type": "string", "description": about});
            if let Some(required) = schema["required"].as_array_mut().filter(|_| name != form.kind) {
                required.push(name.into());
            }
        }
        if background {
            let about = "You go on without it, and are told when it has ended";
            schema["properties"]["run_in_background"] = json!({"type": "boolean", "description": about});
        }
        Self {
            form,
            spec: Spec {
                name: form.names.first().copied().unwrap_or_default().to_owned(),
                description: about,
                schema,
                kind: ToolKind::Subagent,
                reads_only: true,
                ..Spec::default()
            },
        }
    }
}

#[async_trait(?Send)]
impl Tool for Subagents {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn is_called(&self, name: &str) -> bool {
        self.form.names.contains(&name)
    }

    async fn run(&self, _: &Value, _: &Cx<'_>) -> Given {
        Given::error("a subagent cannot begin one")
    }
}

/// What a call of this tool wants, if it is the one that begins subagents.
pub(crate) fn wanted(form: Option<SubagentTool>, tool: &dyn Tool, input: &Value) -> Option<Wanted> {
    let form = form.filter(|_| tool.spec().kind == ToolKind::Subagent)?;
    let member = |names: &[&str]| names.iter().find_map(|name| input.get(name)?.as_str()).unwrap_or_default().to_owned();
    Some(Wanted {
        kind: Some(member(&[form.kind, "subagentType"]))
            .filter(|kind| !kind.is_empty() && kind != form.general)
            .unwrap_or_else(|| GENERAL.to_owned()),
        task: member(&["description"]),
        prompt: member(&["prompt"]),
        background: input.get("run_in_background").and_then(Value::as_bool) == Some(true),
    })
}

/// Runs one to its end.
pub(crate) async fn run(context: &Rc<Context>, parent: &Conversation, call: &Call, wanted: Wanted) -> Given {
    if parent.subagent.is_some() {
        return Given::error("A subagent cannot begin another one.");
    }
    let kind = match context.model.options.borrow().agents.get(&wanted.kind) {
        Some(kind) => kind.clone(),
        None if wanted.kind == GENERAL => SubagentKind {
            prompt: context.persona_session.system_prompt(&context.world),
            ..SubagentKind::default()
        },
        None => {
            let known: Vec<String> = kinds(context).map(|(name, _)| name).collect();
            return Given::error(format!("Agent type '{}' not found. Available agents: {}", wanted.kind, known.join(", ")));
        }
    };
    let tools: Vec<Rc<dyn Tool>> = parent
        .tools
        .iter()
        .filter(|tool| tool.spec().kind != ToolKind::Subagent && tool.spec().name != turn::structured::NAME)
        .filter(|tool| kind.has(&tool.spec().name))
        .cloned()
        .collect();
    let subagent = RunningSubagent {
        call: call.id.clone(),
        id: format!("a{}", &uuid::Uuid::new_v4().simple().to_string()[..16]),
        kind: wanted.kind.clone(),
        task: wanted.task.clone(),
        begun: Some(std::time::Instant::now()),
    };
    let background = (wanted.background || kind.background) && turn::background::begins_turns(context);
    let task = Rc::new(Task::new(context, subagent.clone(), wanted.prompt.clone(), background));
    let mut conversation = Conversation {
        specs: Vec::new(),
        tools: Vec::new(),
        system: kind.prompt.clone(),
        model: kind
            .model
            .clone()
            .and_then(|model| context.model.names.named(&model))
            .unwrap_or_else(|| parent.model.clone()),
        messages: vec![Rc::new(Message::user(wanted.prompt.clone()))],
        written: Rc::default(),
        max_rounds: kind.max_rounds,
        transcript: crate::conversation::transcript::subagent(parent, &subagent),
        context_tokens: 0,
        stop: background.then(|| task.stop.clone()),
        calls: Cell::new(0),
        subagent: Some(subagent),
    };
    conversation.equip(tools);
    context.tasks.begin(context, &task);
    if background {
        let given = launched(&task);
        context.host.jobs.spawn({
            let context = Rc::clone(context);
            async move {
                work(&context, conversation, &task).await;
            }
        });
        return given;
    }
    let Ended {
        how,
        text,
        tokens,
        calls,
        took,
    } = work(context, conversation, &task).await;
    if how != How::Completed {
        return Given::error(text);
    }
    let detail = json!({
        "status": "completed",
        "prompt": wanted.prompt,
        "agentId": task.subagent.id,
        "agentType": wanted.kind,
        "content": [{"type": "text", "text": text}],
        "totalDurationMs": took.as_millis() as u64,
        "totalTokens": tokens,
        "totalToolUseCount": calls,
    });
    Given::text(text).with(DetailShape::Claude, detail)
}

/// What the model is told of one that has begun and that it does not wait for.
fn launched(task: &Task) -> Given {
    let RunningSubagent { id, task: about, .. } = &task.subagent;
    let text = format!(
        "The agent works in the background now (agentId: {id}). You will be told when it has ended, and know nothing of its results before \
         that: do not guess them. Go on with other work, or end your turn."
    );
    let detail = json!({
        "isAsync": true,
        "status": "async_launched",
        "agentId": id,
        "description": about,
        "prompt": task.prompt,
        "outputFile": task.output,
    });
    Given::text(text).with(DetailShape::Claude, detail)
}

/// Lets one work to its end, which is told to the host.
async fn work(context: &Rc<Context>, mut conversation: Conversation, task: &Rc<Task>) -> Ended {
    turn::hooks::subagent_begins(context, &task.subagent).await;
    let prompt = [Part::Text(task.prompt.clone())];
    let prompt_id = line_id();
    // Of one in the background `task_started` has said it.
    if !task.background {
        let events = &context.host.events;
        events.prompt(&prompt, PromptSource::Parent, Some(&task.subagent), &prompt_id);
    }
    crate::conversation::transcript::prompt(&conversation, context.policy.borrow().mode_name(), &prompt, &prompt_id, "", None);
    let finished = turn::rounds(context, &mut conversation).await;
    crate::conversation::transcript::shown(&context.host, &conversation);
    turn::hooks::subagent_ends(context, &task.subagent);
    let (how, text) = match finished.end {
        End::Done(text, _) => (How::Completed, text),
        End::Refused(text) => (How::Failed, format!("The agent refused: {text}")),
        End::Rounds(limit) => (How::Failed, format!("The agent reached its limit of {limit} rounds.")),
        End::Budget(limit) => (How::Failed, format!("The agent stopped: the budget of {limit} dollars is spent.")),
        // Limits of the prompt itself, which end it and this with it.
        End::Calls(..) | End::Time(_) | End::Interrupted(_) => (How::Stopped, interrupted(true).to_owned()),
        End::Stopped(why) | End::Held(why) | End::Refusing(why) | End::Denied(why) => (How::Failed, why),
        End::Failed(error) => (How::Failed, format!("The agent failed: {}", error.message)),
        End::Deferred(..) | End::Unavailable(_) | End::Unstructured(..) => (How::Failed, "The agent gave no answer.".to_owned()),
    };
    let ended = Ended {
        how,
        text,
        tokens: conversation.context_tokens,
        calls: conversation.calls.get(),
        took: task.took(),
    };
    context.tasks.end(context, task, ended.clone());
    ended
}

/// The kinds that there are, with what each is for.
pub(crate) fn kinds(context: &Context) -> impl Iterator<Item = (String, String)> {
    let own: Vec<(String, String)> = context
        .model
        .options
        .borrow()
        .agents
        .iter()
        .map(|(name, kind)| (name.clone(), kind.description.clone()))
        .collect();
    let general = (GENERAL.to_owned(), "any work of several steps; it has all tools".to_owned());
    let has = own.iter().any(|(name, _)| name == GENERAL);
    (!has).then_some(general).into_iter().chain(own)
}
