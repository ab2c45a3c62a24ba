//! What a program asks in plain text, put to the host as a question for permission, and the host's answer as what a person would type.

use crate::adapters::raw::conduct::{Choice, Conduct, TextQuestion, TextQuestions};
use crate::adapters::raw::event::Response;
use crate::adapters::raw::json::{Raw, Str};
use crate::backend::TypedQuestion;
use crate::child::Child;

/// The questions of a program that asks so.
#[derive(Debug)]
pub(super) struct Typed {
    conduct: &'static dyn Conduct,
    questions: Option<Box<dyn TextQuestions>>,
    /// One that was heard and not told yet: the lines before it come first.
    heard: Option<TextQuestion>,
    /// The one that waits for the host: its id, and the tool.
    open: Option<(String, String)>,
    /// The tool that was not allowed.
    denied: Option<String>,
    /// How many there were.
    count: u64,
}

impl Typed {
    /// Nothing was asked yet.
    pub(super) fn of(conduct: &'static dyn Conduct) -> Self {
        Self {
            conduct,
            questions: conduct.questions(),
            heard: None,
            open: None,
            denied: None,
            count: 0,
        }
    }

    /// Whether the program asks so at all.
    pub(super) fn asks(&self) -> bool {
        self.questions.is_some()
    }

    /// A program has been started.
    pub(super) fn begin(&mut self) {
        *self = Self {
            count: self.count,
            ..Self::of(self.conduct)
        };
    }

    /// The program printed something; what is no question goes to `lines`.
    pub(super) fn hear(&mut self, bytes: &[u8], lines: &mut Vec<u8>) {
        self.heard = self.feed(bytes, lines);
    }

    /// The program has ended.
    pub(super) fn finish(&mut self, lines: &mut Vec<u8>) {
        if let Some(questions) = &mut self.questions {
            questions.finish(lines);
        }
        self.open = None;
    }

    /// The question that is to be told now. `calls`: those without a result, as id, name and arguments.
    pub(super) fn next(&mut self, calls: &[(String, String, String)], lines: &mut Vec<u8>) -> Option<Box<TypedQuestion>> {
        let question = self.heard.take()?;
        self.heard = self.feed(&[], lines);
        self.count += 1;
        let id = format!("agentglot-typed-{}", self.count);
        self.open = Some((id.clone(), question.tool.clone()));
        let tool = Str::trusted(&question.tool).unescape();
        let (call, input) = calls
            .iter()
            .rfind(|(_, name, _)| *name == tool)
            .map(|(call, _, input)| (call.clone(), input.clone()))
            .unwrap_or_else(|| (String::new(), "{}".to_owned()));
        Some(Box::new(TypedQuestion {
            id,
            call,
            tool: question.tool,
            input,
            text: question.text,
        }))
    }

    /// The host has answered: types it. What is no permission is a denial.
    pub(super) fn answered(&mut self, response: &Response<'_>, child: Option<&Child>) -> bool {
        let Some(tool) = response.id.and_then(|id| self.take(id.as_escaped())) else {
            return false;
        };
        let body = response.body.filter(|_| response.ok);
        let word = body.and_then(|body| body.get("behavior")).and_then(Raw::string);
        let stops = body.and_then(|body| body.get("interrupt")).and_then(Raw::bool) == Some(true);
        let choice = match word {
            Some(word) if word.is("allow") || word.is("approve") => Choice::Once,
            _ if stops => Choice::Stop,
            _ => Choice::Deny,
        };
        if choice != Choice::Once {
            self.denied = Some(tool);
        }
        child.is_some_and(|child| child.write(self.conduct.types(choice).as_bytes()).is_ok())
    }

    /// The tool that was not allowed, after which the program ends its run without an answer.
    pub(super) fn denied(&self) -> Option<&str> {
        self.denied.as_deref()
    }

    fn feed(&mut self, bytes: &[u8], lines: &mut Vec<u8>) -> Option<TextQuestion> {
        match &mut self.questions {
            Some(questions) => questions.feed(bytes, lines),
            None => {
                lines.extend_from_slice(bytes);
                None
            }
        }
    }

    fn take(&mut self, id: &str) -> Option<String> {
        self.open.take_if(|(open, _)| open == id).map(|(_, tool)| tool)
    }
}
