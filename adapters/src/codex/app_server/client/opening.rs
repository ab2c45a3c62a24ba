//! How a thread is opened and its turns begin: what the launch wants, as parameters.

use bumpalo::Bump;

use crate::event::{Block, Content};
use crate::json::{Raw, Str};
use crate::launch::{Launch, PermissionMode, Resume, ServerWords, Text, merged_servers};
use crate::tools::json::Json;

/// What the session begins with.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) resume: Resume,
    /// What of the launch the program cannot be told.
    pub(super) unsaid: Vec<String>,
    fork: bool,
    cwd: Option<String>,
    /// Members of the request that opens the thread, whichever it is; each begins with a comma.
    params: String,
    /// Folders beside the working folder that may be written, as a JSON array.
    roots: String,
    /// What belongs to each turn: members too.
    turn: String,
}

impl Opening {
    pub(super) fn of(launch: &Launch) -> Self {
        let arena = Bump::new();
        let mut unsaid = Vec::new();
        let (approval, sandbox) = policy(launch.permission_or_default());
        let mut json = Json::new(&arena);
        json.key("approvalPolicy").plain(approval).key("sandbox").plain(sandbox);
        let maybe = |name: &str, text: Option<&String>, json: &mut Json<'_>| {
            if let Some(text) = text {
                json.key(name).plain(text);
            }
        };
        maybe("cwd", launch.cwd.as_ref(), &mut json);
        maybe("model", launch.model.as_ref(), &mut json);
        let mut config = Json::new(&arena);
        config.mark('{');
        match &launch.system.replace {
            Some(Text::Here(text)) => maybe("baseInstructions", Some(text), &mut json),
            Some(Text::File(path)) => maybe("model_instructions_file", Some(path), &mut config),
            None => {}
        }
        match &launch.system.append {
            Some(Text::Here(text)) => maybe("developerInstructions", Some(text), &mut json),
            Some(Text::File(_)) => unsaid.push("system.append: the program takes a text here, and no file".to_owned()),
            None => {}
        }
        maybe("model_reasoning_effort", launch.effort.as_ref(), &mut config);
        let mut roots = Json::new(&arena);
        roots.mark('[');
        launch.add_dirs.iter().for_each(|path| _ = roots.item().plain(path));
        roots.mark(']');
        let roots = roots.done();
        if !launch.add_dirs.is_empty() {
            config.key("sandbox_workspace_write").mark('{').key("writable_roots").raw(roots).mark('}');
        }
        servers(launch, &mut config, &mut unsaid);
        config.mark('}');
        let config = config.done();
        if config.as_str() != "{}" {
            json.key("config").raw(config);
        }
        let mut turn = Json::new(&arena);
        match &launch.json_schema {
            Some(schema) if Raw::trusted(schema).check().is_ok() => _ = turn.key("outputSchema").lit(schema),
            Some(_) => unsaid.push("json_schema: the program takes a schema here, and no file".to_owned()),
            None => {}
        }
        Self {
            resume: launch.resume.clone(),
            unsaid,
            fork: launch.fork,
            cwd: launch.cwd.clone(),
            params: json.done().as_str().to_owned(),
            roots: roots.as_str().to_owned(),
            turn: turn.done().as_str().to_owned(),
        }
    }

    /// The request that opens the thread: its method and parameters.
    pub(super) fn request(&self) -> (&'static str, String) {
        let arena = Bump::new();
        let mut json = Json::new(&arena);
        json.mark('{');
        let method = match &self.resume {
            Resume::Session(id) => {
                json.key("threadId").plain(id);
                if self.fork {
                    "thread/fork"
                } else {
                    // What was said before is nobody's here to read.
                    json.key("excludeTurns").bool(true);
                    "thread/resume"
                }
            }
            _ => "thread/start",
        };
        let begun = json.done();
        let rest = if begun.as_str() == "{" { &self.params[1..] } else { &self.params };
        (method, format!("{}{rest}}}", begun.as_str()))
    }

    /// The parameters of the search for the latest thread of the folder.
    pub(super) fn latest(&self) -> String {
        let arena = Bump::new();
        let mut json = Json::new(&arena);
        json.mark('{').key("limit").number(1);
        json.key("sourceKinds").lit("[\"cli\",\"vscode\",\"exec\",\"appServer\"]");
        if let Some(cwd) = &self.cwd {
            json.key("cwd").plain(cwd);
        }
        json.mark('}');
        json.done().as_str().to_owned()
    }

    /// What a turn is told beside its prompt: what belongs to each, and what is different from here on.
    pub(super) fn turn(&self, model: Option<&str>, mode: Option<PermissionMode>) -> String {
        let arena = Bump::new();
        let mut json = Json::new(&arena);
        json.lit(&self.turn);
        if let Some(model) = model {
            json.key("model").plain(model);
        }
        if let Some(mode) = mode {
            let (approval, sandbox) = policy(mode);
            json.key("approvalPolicy").plain(approval).key("sandboxPolicy").mark('{').key("type");
            match sandbox {
                "danger-full-access" => _ = json.plain("dangerFullAccess"),
                "read-only" => _ = json.plain("readOnly"),
                _ => _ = json.plain("workspaceWrite").key("writableRoots").lit(&self.roots),
            }
            json.mark('}');
        }
        json.done().as_str().to_owned()
    }
}

/// When the program asks, and what its commands may write, in a mode.
///
/// Who lets nobody be asked (`dontAsk`) is asked all the same: the session answers for its host, by the host's own rules.
const fn policy(mode: PermissionMode) -> (&'static str, &'static str) {
    match mode {
        PermissionMode::Ask | PermissionMode::DontAsk => ("untrusted", "workspace-write"),
        PermissionMode::AcceptEdits | PermissionMode::Auto => ("on-request", "workspace-write"),
        PermissionMode::Plan => ("never", "read-only"),
        PermissionMode::Bypass => ("never", "danger-full-access"),
    }
}

/// The host's MCP servers in the words of the program's settings.
fn servers(launch: &Launch, config: &mut Json<'_>, unsaid: &mut Vec<String>) {
    let configs: Vec<&str> = launch.mcp_config.iter().map(String::as_str).collect();
    let from = launch.format.dialect.program().map_or(ServerWords::Type, |host| host.traits.servers);
    let Some((text, lost)) = merged_servers(&configs, from, ServerWords::Type) else {
        unsaid.push("mcp_config: a configuration is no JSON object".to_owned());
        return;
    };
    unsaid.extend(lost.map(|why| format!("mcp_config: {why}")));
    let mut begun = false;
    let all = Raw::trusted(&text).get("mcpServers").into_iter().flat_map(Raw::members);
    for (name, server) in all {
        let has = |name: &str| server.get(name).is_some_and(|value| value.string().is_some());
        let is_sse = server.get("type").and_then(Raw::string).is_some_and(|kind| kind.is("sse"));
        if is_sse || !has("command") && !has("url") {
            unsaid.push(format!("mcp_config: the program has no way to the server {}", name.unescape()));
            continue;
        }
        if !std::mem::replace(&mut begun, true) {
            config.key("mcp_servers").mark('{');
        }
        config.key(name.as_escaped()).mark('{');
        for (theirs, ours) in [
            ("command", "command"),
            ("args", "args"),
            ("env", "env"),
            ("url", "url"),
            ("headers", "http_headers"),
        ] {
            if let Some(value) = server.get(theirs) {
                config.key(ours).raw(value);
            }
        }
        config.mark('}');
    }
    if begun {
        config.mark('}');
    }
}

/// A prompt as the `input` of a turn, and the kind of a block of it that the program does not take.
pub(super) fn prompt(content: Content<'_>) -> (String, Option<String>) {
    let arena = Bump::new();
    let mut json = Json::new(&arena);
    let mut lost = None;
    json.mark('[');
    let said = |text: Str<'_>, json: &mut Json<'_>| {
        json.item().mark('{').key("type").plain("text").key("text").str(text);
        json.key("text_elements").mark('[').mark(']').mark('}');
    };
    match content {
        Content::Text(text) => said(text, &mut json),
        Content::Blocks(blocks) => {
            for block in blocks {
                match block {
                    Block::Text { text, .. } => said(*text, &mut json),
                    Block::Media(media) => match image(media.raw) {
                        Some(url) => {
                            json.item().mark('{').key("type").plain("image").key("url").plain(&url).mark('}');
                        }
                        None => lost = Some(media.kind.unescape().into_owned()),
                    },
                    Block::Other { kind, .. } => lost = Some(kind.unescape().into_owned()),
                    _ => {}
                }
            }
        }
    }
    json.mark(']');
    (json.done().as_str().to_owned(), lost)
}

/// The address of an image in Anthropic's words: of one that lies somewhere, or that holds it.
fn image(block: Raw<'_>) -> Option<String> {
    let source = block
        .get("source")
        .filter(|_| block.get("type").and_then(Raw::string).is_some_and(|kind| kind.is("image")))?;
    let text = |name: &str| Some(source.get(name)?.string()?.unescape().into_owned());
    match text("type")?.as_str() {
        "url" => text("url"),
        "base64" => Some(format!("data:{};base64,{}", text("media_type")?, text("data")?)),
        _ => None,
    }
}
