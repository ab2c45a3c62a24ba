//! What a host asks for.

use std::collections::VecDeque;

use super::history::{Cut, History};
use super::policy::Policy;
use super::prompt;
use super::thread::Thread;
use super::words::{self, Wrong, need, text};
use super::{Page, Reading, Then, Threads, fixed, pages};
use crate::conduct::quoted;
use crate::json::{Raw, Shape};
use crate::launch::{Launch, Resume, Text};
use crate::server::{Action, Actions, Mark};

/// The requests that are served.
const METHODS: &[&str] = &[
    "initialize",
    "thread/start",
    "thread/resume",
    "thread/fork",
    "thread/read",
    "thread/list",
    "thread/loaded/list",
    "thread/turns/list",
    "thread/items/list",
    "thread/unsubscribe",
    "thread/name/set",
    "thread/archive",
    "thread/unarchive",
    "thread/delete",
    "thread/compact/start",
    "thread/revert",
    "thread/rollback",
    "turn/start",
    "turn/steer",
    "turn/interrupt",
    "model/list",
];

/// Threads of a list where nobody says how many.
const PAGE: usize = 25;

impl Threads {
    pub(super) fn request(&mut self, method: &str, id: &str, params: Raw<'_>, actions: &mut Actions) -> Result<(), Wrong> {
        if method == "initialize" {
            return self.initialize(id, params, actions);
        }
        if self.host.is_none() {
            return Err(Wrong::request("Not initialized"));
        }
        if !matches!(params.shape(), Some(Shape::Object | Shape::Null)) {
            return Err(Wrong::params("params: an object is expected"));
        }
        match method {
            "thread/start" => {
                let (launch, policy) = self.begins_with(params)?;
                self.room()?;
                let name = (self.setup.new_id)();
                let launch = Launch {
                    session_id: Some(name.clone()),
                    ..launch
                };
                let mut thread = Thread::new(&name, id, launch, policy, self.facts(None));
                thread.begin(actions);
                self.threads.insert(name, thread);
            }
            "thread/resume" => self.resume(id, params, actions)?,
            "thread/fork" => {
                let (launch, policy) = self.begins_with(params)?;
                let of = thread_id(params)?;
                let of_read = of.clone();
                let name = (self.setup.new_id)();
                let launch = Launch {
                    resume: Resume::Session(of.clone()),
                    fork: true,
                    session_id: Some(name.clone()),
                    ..launch
                };
                let cut = match (text(params, "lastTurnId")?, text(params, "beforeTurnId")?) {
                    (Some(_), Some(_)) => return Err(Wrong::params("lastTurnId and beforeTurnId: one of them is expected")),
                    (Some(last), None) => Some(Cut::Behind(last)),
                    (None, before) => before.map(Cut::Before),
                };
                let begin = Then::Begin(Box::new((name, launch, policy)));
                self.read(id, of, wants_turns(params), begin, actions)?;
                if let Some(cut) = cut {
                    self.cut(&of_read, cut);
                }
            }
            "thread/read" => {
                let name = thread_id(params)?;
                let turns = params.get("includeTurns").and_then(Raw::bool) == Some(true);
                match self.threads.get(&name).filter(|_| !turns) {
                    Some(thread) => words::answer(id, &format!("{{\"thread\":{}}}", thread.object_with("")), actions),
                    None => self.read(id, name, turns, Then::Tell, actions)?,
                }
            }
            "thread/list" => self.list(id, params, actions)?,
            "thread/loaded/list" => {
                let names: Vec<String> = self.threads.keys().map(|name| quoted(name)).collect();
                words::answer(id, &format!("{{\"data\":[{}],\"nextCursor\":null}}", names.join(",")), actions);
            }
            "thread/unsubscribe" => {
                let name = need(params, "threadId")?;
                let known = self.threads.contains_key(&name);
                let status = if known { "unsubscribed" } else { "notLoaded" };
                words::answer(id, &format!("{{\"status\":\"{status}\"}}"), actions);
                // A turn that runs goes on.
                if self.threads.get(&name).is_some_and(|thread| thread.turn().is_none()) {
                    self.close(&name, "the host has left the thread", actions);
                }
            }
            "thread/name/set" => {
                let name = need(params, "name")?;
                let name = name.trim();
                if name.is_empty() {
                    return Err(Wrong::request("thread name must not be empty"));
                }
                self.mark(id, params, Mark::Name(name.to_owned()), actions)?;
            }
            "thread/archive" => self.mark(id, params, Mark::Archived, actions)?,
            "thread/unarchive" => self.mark(id, params, Mark::Unarchived, actions)?,
            "thread/delete" => self.mark(id, params, Mark::Deleted, actions)?,
            "thread/turns/list" | "thread/items/list" => {
                let page = pages::Page::wanted(method, params)?;
                self.read(id, thread_id(params)?, true, Then::Page(page), actions)?;
            }
            "thread/compact/start" => {
                let (turn, now) = ((self.setup.new_id)(), (self.setup.now)());
                self.thread(params)?.compact(id, turn, now, actions)?;
            }
            "thread/revert" => {
                let cut = Cut::Before(need(params, "beforeTurnId")?);
                self.revert(id, params, cut, false, actions)?;
            }
            // What older programs call it.
            "thread/rollback" => {
                let turns = params.get("numTurns").ok_or_else(|| Wrong::params("missing field `numTurns`"))?;
                let turns = turns.u64().and_then(|turns| usize::try_from(turns).ok()).filter(|turns| *turns > 0);
                let turns = turns.ok_or_else(|| Wrong::request("numTurns must be >= 1"))?;
                self.revert(id, params, Cut::Last(turns), true, actions)?;
            }
            "turn/start" => {
                let parts = prompt::parts(params.get("input").ok_or_else(|| Wrong::params("missing field `input`"))?)?;
                let (turn, now) = ((self.setup.new_id)(), (self.setup.now)());
                let thread = self.thread(params)?;
                let settings = thread.settings(params)?;
                thread.start(id, turn, parts, settings, now, actions);
            }
            "turn/steer" => {
                let parts = prompt::parts(params.get("input").ok_or_else(|| Wrong::params("missing field `input`"))?)?;
                let expected = need(params, "expectedTurnId")?;
                let turn = self.thread(params)?.steer(&expected, parts)?;
                words::answer(id, &format!("{{\"turnId\":\"{turn}\"}}"), actions);
            }
            "turn/interrupt" => {
                let expected = need(params, "turnId")?;
                let name = need(params, "threadId")?;
                self.thread(params)?.interrupt(&expected, actions)?;
                words::answer(id, "{}", actions);
                self.withdraw(|question| question.session == name, actions);
            }
            "model/list" => words::answer(id, &self.models(), actions),
            _ if fixed::methods().any(|known| known == method) => {
                let model = self.threads.values().find(|thread| thread.is_open()).map(Thread::model);
                let model = model.or(self.setup.launch.model.as_deref());
                let answer = fixed::answer(method, params, &self.setup.launch, model)?;
                words::answer(id, &answer, actions);
                let now = (self.setup.now)();
                fixed::told(method)
                    .iter()
                    .for_each(|(method, params)| words::notify(method, params, now, actions));
                if method == "account/login/start" {
                    actions
                        .notes
                        .push("the host signs in with a key of its own, which is not used: whoever answers has its own".to_owned());
                }
            }
            _ => {
                let known: Vec<String> = METHODS
                    .iter()
                    .copied()
                    .chain(fixed::methods())
                    .map(|method| format!("`{method}`"))
                    .collect();
                let why = format!("unknown variant `{method}`, expected one of {}", known.join(", "));
                return Err(Wrong::params(&why));
            }
        }
        Ok(())
    }

    fn initialize(&mut self, id: &str, params: Raw<'_>, actions: &mut Actions) -> Result<(), Wrong> {
        if self.host.is_some() {
            return Err(Wrong::request("Already initialized"));
        }
        let client = params.get("clientInfo").ok_or_else(|| Wrong::params("missing field `clientInfo`"))?;
        let (name, version) = (need(client, "name")?, need(client, "version")?);
        let [family, os, arch] = self.setup.system;
        let ours = crate::codex::program::VERSION;
        let agent = format!("{name}/{ours} ({os}; {arch}) unknown ({name}; {version})");
        let result = format!(
            "{{\"userAgent\":{},\"codexHome\":{},\"platformFamily\":\"{family}\",\"platformOs\":\"{os}\"}}",
            quoted(&agent),
            quoted(&self.setup.home),
        );
        let unwanted = params.get("capabilities").and_then(|able| able.get("optOutNotificationMethods"));
        let unwanted = unwanted.into_iter().flat_map(Raw::elements).filter_map(Raw::string);
        self.unwanted = unwanted.map(|method| method.unescape().into_owned()).collect();
        self.host = Some(name);
        words::answer(id, &result, actions);
        Ok(())
    }

    fn thread(&mut self, params: Raw<'_>) -> Result<&mut Thread, Wrong> {
        let name = need(params, "threadId")?;
        self.threads
            .get_mut(&name)
            .filter(|thread| thread.is_open())
            .ok_or_else(|| Wrong::no_thread(&name))
    }

    /// With what a thread begins, by the parameters of a request that opens one.
    fn begins_with(&self, params: Raw<'_>) -> Result<(Launch, Policy), Wrong> {
        let mut launch = self.setup.launch.clone();
        let mut policy = Policy::of(&launch);
        policy.change(params)?;
        if let Some(cwd) = text(params, "cwd")? {
            if !cwd.starts_with('/') || cwd.contains('\0') {
                return Err(Wrong::params(&format!("cwd: the absolute path of a folder is expected, not {cwd:?}")));
            }
            launch.cwd = Some(cwd);
        }
        launch.model = text(params, "model")?.or(launch.model);
        launch.system.replace = text(params, "baseInstructions")?.map(Text::Here).or(launch.system.replace);
        launch.system.append = text(params, "developerInstructions")?.map(Text::Here).or(launch.system.append);
        let servers = params.get("config").and_then(|config| config.get("mcp_servers"));
        if let Some(servers) = servers.filter(|servers| servers.shape() == Some(Shape::Object)) {
            launch.mcp_config.push(crate::codex::program::servers::common(servers));
        }
        Ok((launch, policy))
    }

    fn resume(&mut self, id: &str, params: Raw<'_>, actions: &mut Actions) -> Result<(), Wrong> {
        let name = thread_id(params)?;
        if let Some(thread) = self.threads.get(&name) {
            if !thread.is_open() {
                return Err(Wrong::request(format!("thread {name} is being opened")));
            }
            return self.read(id, name, wants_turns(params), Then::Tell, actions);
        }
        let (mut launch, policy) = self.begins_with(params)?;
        if params.get("cwd").is_none_or(Raw::is_null) {
            // The folder in which it began.
            launch.cwd = None;
        }
        launch.resume = Resume::Session(name.clone());
        let begin = Then::Begin(Box::new((name.clone(), launch, policy)));
        self.read(id, name, wants_turns(params), begin, actions)
    }

    /// Reads what was said in a thread before.
    fn read(&mut self, request: &str, thread: String, turns: bool, then: Then, actions: &mut Actions) -> Result<(), Wrong> {
        let reading = Reading {
            request: request.to_owned(),
            history: turns.then(|| History::new(self.setup.launch.format.dialect)),
            tells: turns,
            cut: None,
            then,
        };
        let waiting = self.reading.entry(thread.clone()).or_default();
        waiting.push_back(reading);
        // The others are read when it is their turn.
        if waiting.len() == 1 {
            actions.todo.push(Action::Recall { session: thread, cwd: None });
        }
        Ok(())
    }

    /// What is read of a thread last ends here.
    fn cut(&mut self, thread: &str, cut: Cut) {
        let dialect = self.setup.launch.format.dialect;
        if let Some(reading) = self.reading.get_mut(thread).and_then(VecDeque::back_mut) {
            reading.history.get_or_insert_with(|| History::new(dialect));
            reading.cut = Some(cut);
        }
    }

    /// A thread goes back to before one of its turns.
    fn revert(&mut self, id: &str, params: Raw<'_>, cut: Cut, tells: bool, actions: &mut Actions) -> Result<(), Wrong> {
        let thread = self.thread(params)?;
        if thread.turn().is_some() {
            return Err(Wrong::request("a turn is in progress: interrupt it first"));
        }
        let name = thread.id.clone();
        self.read(id, name.clone(), true, Then::Revert(tells), actions)?;
        self.cut(&name, cut);
        Ok(())
    }

    fn list(&mut self, id: &str, params: Raw<'_>, actions: &mut Actions) -> Result<(), Wrong> {
        let behind = match text(params, "cursor")? {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| Wrong::request(format!("invalid cursor: {cursor}")))?,
        };
        let most = most(params, PAGE)?;
        let folder = |value: Raw<'_>| {
            let folder = value.string().map(|folder| folder.unescape().into_owned());
            folder.ok_or_else(|| Wrong::params("cwd: a string or a list of them is expected"))
        };
        let folders = match params.get("cwd").filter(|cwd| !cwd.is_null()) {
            None => Vec::new(),
            Some(list) if list.shape() == Some(Shape::Array) => list.elements().map(folder).collect::<Result<_, _>>()?,
            Some(one) => vec![folder(one)?],
        };
        let page = Page {
            most,
            behind,
            search: text(params, "searchTerm")?.unwrap_or_default(),
            folders,
            ascending: params.get("sortDirection").and_then(Raw::string).is_some_and(|word| word.is("asc")),
            archived: params.get("archived").and_then(Raw::bool) == Some(true),
        };
        self.listing.entry(id.to_owned()).or_default().push_back(page);
        actions.todo.push(Action::List {
            request: id.to_owned(),
            cwd: None,
        });
        Ok(())
    }

    /// The models of the program inside, as far as one runs; before that, the one that threads begin with.
    fn models(&self) -> String {
        let model = |name: &str, title: &str, about: &str, is_default: bool| {
            format!(
                concat!(
                    "{{\"id\":{name},\"model\":{name},\"displayName\":{title},\"description\":{about},\"hidden\":false,",
                    "\"supportedReasoningEfforts\":[],\"defaultReasoningEffort\":\"none\",\"inputModalities\":[\"text\",\"image\"],",
                    "\"isDefault\":{is_default}}}"
                ),
                name = quoted(name),
                title = quoted(title),
                about = quoted(about),
                is_default = is_default,
            )
        };
        let running = self.threads.values().find(|thread| thread.is_open());
        let mut models: Vec<String> = Vec::new();
        for known in running.into_iter().flat_map(|thread| thread.models().elements()) {
            let said = |name: &str| known.get(name).and_then(Raw::string).map(|text| text.unescape().into_owned());
            let Some(name) = said("value") else { continue };
            // Where the session's is none of these by name, it is the first.
            let is_default = running.is_some_and(|thread| thread.model() == name || models.is_empty() && !thread.has_listed_model());
            let title = said("displayName").unwrap_or_else(|| name.clone());
            models.push(model(&name, &title, &said("description").unwrap_or_default(), is_default));
        }
        let first = running.map(Thread::model).or(self.setup.launch.model.as_deref());
        if let Some(name) = first.filter(|name| models.is_empty() && !name.is_empty()) {
            models.push(model(name, name, "", true));
        }
        format!("{{\"data\":[{}],\"nextCursor\":null}}", models.join(","))
    }
}

/// How many entries of a list are wanted.
pub(super) fn most(params: Raw<'_>, otherwise: usize) -> Result<usize, Wrong> {
    let Some(limit) = params.get("limit").filter(|limit| !limit.is_null()) else {
        return Ok(otherwise);
    };
    let limit = limit.u64().and_then(|limit| usize::try_from(limit).ok());
    Ok(limit.ok_or_else(|| Wrong::params("limit: a number is expected"))?.max(1))
}

/// The id of a thread that is kept: it becomes the name of a file and a word of a command line.
pub(super) fn thread_id(params: Raw<'_>) -> Result<String, Wrong> {
    let name = need(params, "threadId")?;
    let is_id =
        !name.is_empty() && name.len() <= 128 && !name.starts_with('-') && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_id {
        Ok(name)
    } else {
        Err(Wrong::request(format!("invalid session id: {name:?}")))
    }
}

/// Whether the turns so far are wanted.
fn wants_turns(params: Raw<'_>) -> bool {
    params.get("excludeTurns").and_then(Raw::bool) != Some(true)
}
