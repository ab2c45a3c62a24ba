//! Tricode: its tools under its names, with its result texts, its plan and its reminders. Version 341a160 (docs/tricode.md).

mod args;
mod debug;
mod difflib;
mod edit;
mod list;
mod place;
mod plan;
mod prompt;
mod read;
mod run;
mod search;
mod sessions;
mod spec;
#[cfg(feature = "symbols")]
mod symbols;
mod web;
mod write;

use std::cell::{OnceCell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use self::plan::Plan;
use self::sessions::Sessions;
use crate::Error;
use crate::flags::given;
use crate::model::Ask;
use crate::model::message::Message;
use crate::model::usage::Tokens;
use crate::persona::PersonaSession;
use crate::tools::processes::Processes;
use crate::tools::shell::Settings;
use crate::tools::web_search::Engine;
use crate::tools::{Access, Cx, Given, ShellCommand, Spec, Tool, World};
use crate::workspace::Wall;
use agentglot_adapters::raw::launch::Launch;

/// The persona in one session.
#[derive(Debug)]
pub struct Session {
    shared: Rc<Shared>,
    wish: Wish,
}

/// What the launch says of it.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// The tools that there are; `None` is all. `plan` is always one.
    pub tools: Option<Vec<String>>,
    /// What AGENTS.md files say.
    pub notes: String,
    /// The notes stand instead of what the program says of itself (`--override-system-prompt`).
    pub overrides: bool,
    /// What the model is asked and answers is shown (`--debug`).
    pub debugs: bool,
    /// How commands run. Their shell is `sh` unless it is named here.
    pub commands: Settings,
    /// Who searches the web.
    pub engine: Option<Engine>,
}

impl Wish {
    /// What a command line says. The plan is always among its tools, and the workspace is everything where it lifts the limit.
    ///
    /// # Errors
    /// When the root folder cannot be opened.
    pub fn of(launch: &mut Launch, world: &World) -> Result<Self, Error> {
        if let Some(tools) = &mut launch.tools
            && !tools.iter().any(|tool| tool == What::Plan.name())
        {
            tools.insert(0, What::Plan.name().to_owned());
        }
        let has = |flag| given(launch, flag).is_some();
        if has("--bypass-work-directory-limit") {
            world
                .wall
                .add(Path::new("/"))
                .map_err(|error| Error::Read { name: "/".to_owned(), error })?;
        }
        Ok(Self {
            tools: launch.tools.clone(),
            notes: notes(&world.wall),
            overrides: has("--override-system-prompt"),
            debugs: has("--debug"),
            commands: Settings::default(),
            engine: None,
        })
    }
}

/// What the AGENTS.md of the working folder and that of the user say.
fn notes(wall: &Wall) -> String {
    const MOST: u64 = 64 << 10;
    let home = std::env::home_dir().and_then(|home| Wall::new(&home.join(".tricode")).ok());
    let read = |wall: &Wall| wall.locate("AGENTS.md").and_then(|place| place.read(MOST)).ok();
    let files = [read(wall), home.as_ref().and_then(read)];
    let texts = files
        .into_iter()
        .flatten()
        .map(|(bytes, _)| String::from_utf8_lossy(&bytes).trim().to_owned());
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// What the tools of a session have in common.
#[derive(Debug, Default)]
struct Shared {
    plan: RefCell<Plan>,
    sessions: Rc<Sessions>,
    settings: Settings,
    engine: Option<Engine>,
    processes: OnceCell<Rc<Processes>>,
}

impl Shared {
    fn processes(&self, world: &World) -> &Rc<Processes> {
        self.processes.get_or_init(|| Processes::new(world, self.settings.clone()))
    }
}

impl Session {
    /// At the beginning of a session.
    pub fn new(wish: Wish) -> Self {
        let mut settings = wish.commands.clone();
        settings.shell.get_or_insert_with(|| "/bin/sh".into());
        let shared = Shared {
            settings,
            engine: wish.engine.clone(),
            ..Shared::default()
        };
        Self {
            shared: Rc::new(shared),
            wish,
        }
    }

    fn names(&self, what: What) -> bool {
        self.wish.tools.iter().flatten().any(|name| name.trim() == what.name())
    }

    fn runs(&self, what: What) -> bool {
        what == What::Plan || self.wish.tools.is_none() || self.names(what)
    }

    /// Whether the model is told of a tool.
    fn tells(&self, what: What) -> bool {
        self.runs(what) && (what.is_usual() || self.names(what))
    }
}

impl PersonaSession for Session {
    fn tools(&self, _: &Rc<World>) -> Vec<Rc<dyn Tool>> {
        let running = spec::all().into_iter().filter(|(what, _)| self.runs(*what));
        let entry = |(what, spec)| {
            let (shared, told) = (self.shared.clone(), self.tells(what));
            Rc::new(Entry { what, spec, shared, told }) as Rc<dyn Tool>
        };
        running.map(entry).collect()
    }

    fn system_prompt(&self, world: &World) -> String {
        let tools: Vec<What> = What::ALL.iter().copied().filter(|what| self.tells(*what)).collect();
        prompt::system(world, &tools, &self.wish)
    }

    fn gate(&self, name: &str, _: &Value) -> Option<Given> {
        self.shared.plan.borrow_mut().gate(name)
    }

    fn needs_permission(&self, name: &str) -> Option<bool> {
        Some(What::ALL.iter().copied().any(|what| what.name() == name && what.needs_permission()))
    }

    fn unknown(&self, name: &str) -> Given {
        Given::error(format!("Unknown tool: {name}"))
    }

    fn processes(&self) -> Option<Rc<Processes>> {
        self.shared.processes.get().cloned()
    }

    /// Each call has its result before the next one begins.
    fn side_by_side(&self) -> usize {
        1
    }

    fn behind_denial(&self) -> Option<Given> {
        Some(Given::denied("Denied: previous operation denied by user"))
    }

    fn reminder(&self) -> Option<String> {
        self.shared.plan.borrow().reminder()
    }

    fn unfinished(&self) -> Option<String> {
        self.shared.plan.borrow().unfinished()
    }

    fn debug_request(&self, ask: &Ask<'_>) -> Option<String> {
        self.wish.debugs.then(|| debug::request(ask))
    }

    fn debug_reply(&self, id: &str, model: &str, message: &Message, tokens: Tokens) -> Option<String> {
        self.wish.debugs.then(|| debug::reply(id, model, message, tokens))
    }

    fn keep(&self) -> Option<Value> {
        self.shared.plan.borrow().keep()
    }

    fn restore(&self, kept: &Value) {
        self.shared.plan.borrow_mut().restore(kept);
    }
}

/// The tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Plan,
    Search,
    Read,
    Create,
    Edit,
    List,
    DeleteFile,
    DeletePath,
    Mkdir,
    Run,
    Start,
    Send,
    Output,
    Close,
    Sessions,
    Fetch,
    WebSearch,
    #[cfg(feature = "symbols")]
    Symbol,
    #[cfg(feature = "symbols")]
    Symbols,
    #[cfg(feature = "symbols")]
    References,
}

impl What {
    const ALL: &[Self] = &[
        Self::Plan,
        Self::Search,
        Self::Read,
        Self::Create,
        Self::Edit,
        Self::List,
        Self::DeleteFile,
        Self::DeletePath,
        Self::Mkdir,
        Self::Run,
        Self::Start,
        Self::Send,
        Self::Output,
        Self::Close,
        Self::Sessions,
        Self::Fetch,
        Self::WebSearch,
        #[cfg(feature = "symbols")]
        Self::Symbol,
        #[cfg(feature = "symbols")]
        Self::Symbols,
        #[cfg(feature = "symbols")]
        Self::References,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Search => "search_context",
            Self::Read => "read_file",
            Self::Create => "create_file",
            Self::Edit => "edit_file",
            Self::List => "list_directory",
            Self::DeleteFile => "delete_file",
            Self::DeletePath => "delete_path",
            Self::Mkdir => "mkdir",
            Self::Run => "run_command",
            Self::Start => "start_session",
            Self::Send => "send_input",
            Self::Output => "read_output",
            Self::Close => "close_session",
            Self::Sessions => "list_sessions",
            Self::Fetch => "fetch_url",
            Self::WebSearch => "web_search",
            #[cfg(feature = "symbols")]
            Self::Symbol => "search_symbol",
            #[cfg(feature = "symbols")]
            Self::Symbols => "list_symbols",
            #[cfg(feature = "symbols")]
            Self::References => "search_references",
        }
    }

    /// Whether the program tells the model of it without being asked to.
    const fn is_usual(self) -> bool {
        match self {
            #[cfg(feature = "symbols")]
            Self::Symbol | Self::Symbols | Self::References => false,
            _ => true,
        }
    }

    /// Whether a person is asked before it runs: of the nine that the program asks about, and of the web, which it does not ask about.
    const fn needs_permission(self) -> bool {
        matches!(
            self,
            Self::Create
                | Self::Edit
                | Self::DeleteFile
                | Self::DeletePath
                | Self::Mkdir
                | Self::Run
                | Self::Start
                | Self::Send
                | Self::Close
                | Self::Fetch
                | Self::WebSearch
        )
    }
}

/// A tool of a session.
#[derive(Debug)]
struct Entry {
    what: What,
    spec: Spec,
    shared: Rc<Shared>,
    told: bool,
}

#[async_trait(?Send)]
impl Tool for Entry {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn is_told(&self) -> bool {
        self.told
    }

    fn access(&self, input: &Value) -> Access {
        let text = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        match self.what {
            #[cfg(feature = "symbols")]
            What::References => {
                let file = input["definition"]["file"].as_str().map(str::to_owned);
                let folder = args::text_or(input, "path", ".").unwrap_or(".").to_owned();
                Access::Read(file.into_iter().chain([folder]).collect())
            }
            #[cfg(feature = "symbols")]
            What::Symbol | What::Symbols => Access::Read(vec![args::text_or(input, "path", ".").unwrap_or(".").to_owned()]),
            What::Search | What::List => Access::Read(vec![args::text_or(input, "path", ".").unwrap_or(".").to_owned()]),
            What::Read => Access::Read(vec![text("path")]),
            What::Create | What::Edit | What::DeleteFile | What::DeletePath | What::Mkdir => Access::Write(vec![text("path")]),
            // What a session is, and where it stands, nobody knows.
            What::Run | What::Start | What::Send => Access::Run(ShellCommand {
                line: text(if self.what == What::Send { "input_text" } else { "command" }),
                ..ShellCommand::default()
            }),
            What::Fetch => Access::Fetch(text("url")),
            What::Plan | What::Output | What::Close | What::Sessions | What::WebSearch => Access::Nothing,
        }
    }

    async fn preview(&self, input: &Value, cx: &Cx<'_>) -> Option<String> {
        if self.what != What::Edit {
            return None;
        }
        let (input, wall) = (input.clone(), cx.world.wall.clone());
        tokio::task::spawn_blocking(move || edit::preview(&input, &wall)).await.ok()?
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        self.shared.plan.borrow_mut().count(self.what.name());
        let cancel = cx.cancel.clone();
        match self.what {
            What::Plan => self.shared.plan.borrow_mut().call(input),
            What::Read => place::work(input, cx, read::read).await,
            What::Create => place::work(input, cx, write::create).await,
            What::Edit => place::work(input, cx, edit::edit).await,
            What::DeleteFile => place::work(input, cx, write::delete_file).await,
            What::DeletePath => place::work(input, cx, move |input, wall| write::delete_path(input, wall, &cancel)).await,
            What::Mkdir => place::work(input, cx, write::mkdir).await,
            What::List => {
                let environment = Arc::clone(&cx.world.environment);
                place::work(input, cx, move |input, wall| list::list(input, wall, &environment, &cancel)).await
            }
            What::Search => place::work(input, cx, move |input, wall| search::search(input, wall, &cancel)).await,
            What::Run => run::run(&self.shared.processes(cx.world).commands, input, cx).await,
            What::Start => self.shared.sessions.start(self.shared.processes(cx.world), input).await,
            What::Send => self.shared.sessions.send(self.shared.processes(cx.world), input).await,
            What::Output => self.shared.sessions.read(self.shared.processes(cx.world), input, cx).await,
            What::Close => self.shared.sessions.close(self.shared.processes(cx.world), input).await,
            What::Sessions => self.shared.sessions.list(self.shared.processes(cx.world)).await,
            What::Fetch => web::fetch(input, cx).await,
            What::WebSearch => web::search(self.shared.engine.as_ref(), input, cx).await,
            #[cfg(feature = "symbols")]
            What::Symbol => place::work(input, cx, move |input, wall| symbols::search(input, wall, &cancel)).await,
            #[cfg(feature = "symbols")]
            What::Symbols => place::work(input, cx, move |input, wall| symbols::list(input, wall, &cancel)).await,
            #[cfg(feature = "symbols")]
            What::References => place::work(input, cx, move |input, wall| symbols::find_references(input, wall, &cancel)).await,
        }
    }
}

#[cfg(test)]
mod recorded_tests;
