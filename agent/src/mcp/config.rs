//! Configurations of MCP servers: `--mcp-config`, `.mcp.json`, settings, and what hosts send.
//!
//! An object of servers by name, below `mcpServers` or bare. Claude Code says by `type` how a server is reached (`stdio`, `http`,
//! `sse`, `sdk`), Qwen Code by the member that holds the address (`httpUrl`). Both are read at once. A `url` without a `type` is streamable
//! HTTP, as Cursor means it; Qwen Code means server-sent events.
//!
//! In `command`, `args`, `env`, `cwd`, `url` and `headers`, `${NAME}` and `${NAME:-default}` stand for variables of ours. A variable that is
//! not set and has no default makes the server a failed one; the others start.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agentglot_process::file::{read_named_text, read_text};
use serde_json::{Map, Value};

use crate::redact::arguments;

/// Time-outs below this many milliseconds are not heeded, as with Claude Code.
const SHORTEST_TIMEOUT: u64 = 1000;

/// A server, as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Where it comes from: `dynamic` (`--mcp-config`, the host), `project`, `local`, `user`, `sdk`.
    pub source: String,
    /// How it is reached.
    pub reach: Reach,
    /// How long one call may take, where the server has a limit of its own.
    pub timeout: Option<Duration>,
    /// Its calls need no permission: Qwen Code's `trust`.
    pub trusted: bool,
    /// Only these tools are offered: Qwen Code's `includeTools`.
    pub only: Option<Vec<String>>,
    /// These tools are not: Qwen Code's `excludeTools`.
    pub without: Vec<String>,
    /// What is said of single tools: Claude's `tools`, by name `always_allow`, `always_ask` or `always_deny`.
    pub policies: Vec<(String, String)>,
}

impl Server {
    /// The values in its configuration that nobody else may see.
    pub fn secrets(&self) -> Vec<String> {
        let (pairs, args) = match &self.reach {
            Reach::Stdio { args, env, .. } => (env.as_slice(), args.clone()),
            Reach::Http { url, headers } | Reach::Sse { url, headers } => (headers.as_slice(), vec![url.clone()]),
            Reach::Host | Reach::Nowhere(_) => return Vec::new(),
        };
        let named = pairs.iter().map(|(name, value)| format!("{name}={value}"));
        arguments(&args.into_iter().chain(named).collect::<Vec<_>>()).1
    }
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// A program of ours, over its stdin and stdout.
    Stdio {
        /// The program: a name for `PATH`, or a path.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its variables, beside those that every command of the session gets.
        env: Vec<(String, String)>,
        /// The folder that it runs in; the session's if there is none.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Headers of each request.
        headers: Vec<(String, String)>,
    },
    /// HTTP with server-sent events, as before March 2025.
    Sse {
        /// The address of the stream.
        url: String,
        /// Headers of each request.
        headers: Vec<(String, String)>,
    },
    /// It lives in the host and is spoken to over the control channel.
    Host,
    /// It cannot be reached, for this reason.
    Nowhere(String),
}

/// Why a configuration cannot be used at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// There is no such file.
    #[error("Invalid MCP configuration:\nMCP config file not found: {}", .0.display())]
    Missing(PathBuf),
    /// The file cannot be read.
    #[error("Invalid MCP configuration:\n{}: cannot be read: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// It is not JSON, or not of the right shape.
    #[error("Invalid MCP configuration:\n{0}")]
    Shape(String),
}

/// The largest file of a configuration, in bytes.
const LARGEST: u64 = 1 << 20;

/// Finds a variable.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The servers of `--mcp-config`: each value is JSON or the path of a file with JSON, relative to `cwd`. Of servers with the same name
/// the last one counts.
///
/// # Errors
/// When a file is not there or a value is no configuration.
pub fn of_flag(values: &[String], cwd: &Path, lookup: Lookup<'_>) -> Result<Vec<Server>, ConfigError> {
    let mut servers = Vec::new();
    for value in values {
        let more = if value.trim_start().starts_with('{') {
            of_text(value, "dynamic", lookup)?
        } else {
            let path = cwd.join(value);
            of_read(read_named_text(&path, LARGEST), &path, "dynamic", lookup)?.ok_or(ConfigError::Missing(path))?
        };
        join(&mut servers, more);
    }
    Ok(servers)
}

/// The servers of a file, such as a project's `.mcp.json` (only to be asked for when the project is trusted). `None` if there is no such
/// file.
///
/// # Errors
/// When it cannot be read or is no configuration.
pub fn of_file(path: &Path, source: &str, lookup: Lookup<'_>) -> Result<Option<Vec<Server>>, ConfigError> {
    of_read(read_text(path, LARGEST), path, source, lookup)
}

fn of_read(read: std::io::Result<String>, path: &Path, source: &str, lookup: Lookup<'_>) -> Result<Option<Vec<Server>>, ConfigError> {
    match read {
        Ok(text) => of_text(&text, source, lookup).map(Some).map_err(|error| match error {
            ConfigError::Shape(why) => ConfigError::Shape(format!("{}: {why}", path.display())),
            other => other,
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ConfigError::Unreadable {
            path: path.to_owned(),
            why: error.to_string(),
        }),
    }
}

/// The servers of a configuration.
///
/// # Errors
/// When it is no configuration.
pub fn of_text(text: &str, source: &str, lookup: Lookup<'_>) -> Result<Vec<Server>, ConfigError> {
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| ConfigError::Shape(format!("MCP config is not valid JSON: {error}")))?;
    of_value(&value, source, lookup)
}

/// The same, when it has been read already: settings, `mcp_set_servers`, Qwen Code's `initialize.mcpServers`.
///
/// # Errors
/// When it is no object of objects.
pub fn of_value(value: &Value, source: &str, lookup: Lookup<'_>) -> Result<Vec<Server>, ConfigError> {
    let servers = value.get("mcpServers").unwrap_or(value);
    let Some(servers) = servers.as_object() else {
        return Err(ConfigError::Shape("mcpServers: expected an object of servers by name".to_owned()));
    };
    servers
        .iter()
        .map(|(name, server)| match server.as_object() {
            Some(server) => Ok(one(name, server, source, lookup)),
            None => Err(ConfigError::Shape(format!("mcpServers.{name}: expected an object"))),
        })
        .collect()
}

/// The host's own servers, as its `initialize` names them: Claude's `sdkMcpServers` is a list of names, Qwen Code's an object by name.
pub fn of_host(initialize: &Value) -> Vec<Server> {
    let mut servers: Vec<Server> = match initialize.get("sdkMcpServers") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(host).collect(),
        // What Qwen Code's hosts do themselves they are not asked about.
        Some(Value::Object(servers)) => servers.keys().map(|name| Server { trusted: true, ..host(name) }).collect(),
        _ => Vec::new(),
    };
    for server in &mut servers {
        let config = initialize.get("sdkMcpServerConfigs").and_then(|configs| configs.get(&server.name));
        server.timeout = config.and_then(|config| timeout(config.get("timeout")));
        server.policies = policies(config.and_then(|config| config.get("tools")));
    }
    servers
}

/// Puts servers behind others; of the same name the later one counts.
pub fn join(servers: &mut Vec<Server>, more: Vec<Server>) {
    for server in more {
        servers.retain(|known| known.name != server.name);
        servers.push(server);
    }
}

fn host(name: &str) -> Server {
    Server {
        name: name.to_owned(),
        source: "sdk".to_owned(),
        reach: Reach::Host,
        timeout: None,
        trusted: false,
        only: None,
        without: Vec::new(),
        policies: Vec::new(),
    }
}

fn one(name: &str, server: &Map<String, Value>, source: &str, lookup: Lookup<'_>) -> Server {
    let reach = reach(server, lookup).unwrap_or_else(Reach::Nowhere);
    Server {
        source: if reach == Reach::Host { "sdk" } else { source }.to_owned(),
        reach,
        timeout: timeout(server.get("timeout")),
        trusted: server.get("trust") == Some(&Value::Bool(true)),
        only: server.get("includeTools").and_then(Value::as_array).map(|names| texts(names)),
        without: server
            .get("excludeTools")
            .and_then(Value::as_array)
            .map(|names| texts(names))
            .unwrap_or_default(),
        policies: policies(server.get("tools")),
        ..host(name)
    }
}

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn timeout(value: Option<&Value>) -> Option<Duration> {
    let millis = value?.as_u64().filter(|&millis| millis >= SHORTEST_TIMEOUT)?;
    Some(Duration::from_millis(millis))
}

fn policies(value: Option<&Value>) -> Vec<(String, String)> {
    let policy = |tool: &Value| {
        let policy = tool.get("permission_policy")?.as_str()?;
        Some((tool.get("name")?.as_str()?.to_owned(), policy.to_owned()))
    };
    value
        .and_then(Value::as_array)
        .map(|tools| tools.iter().filter_map(policy).collect())
        .unwrap_or_default()
}

fn reach(server: &Map<String, Value>, lookup: Lookup<'_>) -> Result<Reach, String> {
    let text = |member: &str| server.get(member).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (command, url, http_url) = (text("command"), text("url"), text("httpUrl"));
    let address = |url: Option<&str>, kind: &str| -> Result<(String, Vec<(String, String)>), String> {
        let url = url.ok_or_else(|| format!("a server of type {kind} needs a url"))?;
        Ok((expand(url, lookup)?, pairs(server.get("headers"), "headers", lookup)?))
    };
    match server.get("type").and_then(Value::as_str) {
        Some("sdk") => return Ok(Reach::Host),
        Some("http" | "streamable-http" | "streamableHttp") => {
            let (url, headers) = address(url.or(http_url), "http")?;
            return Ok(Reach::Http { url, headers });
        }
        Some("sse") => {
            let (url, headers) = address(url, "sse")?;
            return Ok(Reach::Sse { url, headers });
        }
        Some("stdio") | None => {}
        Some(other) => return Err(format!("servers of type {other} are not known here")),
    }
    if let Some(command) = command {
        let args = match server.get("args") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(args)) => args
                .iter()
                .map(|arg| expand(arg.as_str().ok_or("args: expected texts")?, lookup))
                .collect::<Result<_, _>>()?,
            Some(_) => return Err("args: expected a list of texts".to_owned()),
        };
        return Ok(Reach::Stdio {
            command: expand(command, lookup)?,
            args,
            env: pairs(server.get("env"), "env", lookup)?,
            cwd: text("cwd").map(|cwd| expand(cwd, lookup)).transpose()?.map(PathBuf::from),
        });
    }
    if http_url.is_some() || url.is_some() {
        let (url, headers) = address(http_url.or(url), "http")?;
        return Ok(Reach::Http { url, headers });
    }
    Err(match text("tcp") {
        Some(_) => "servers behind a WebSocket are not known here".to_owned(),
        None => "a server needs a command or a url".to_owned(),
    })
}

fn pairs(value: Option<&Value>, what: &str, lookup: Lookup<'_>) -> Result<Vec<(String, String)>, String> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(pairs)) => pairs
            .iter()
            .map(|(name, value)| {
                let value = match value {
                    Value::String(text) => expand(text, lookup)?,
                    Value::Number(_) | Value::Bool(_) => value.to_string(),
                    _ => return Err(format!("{what}.{name}: expected a text")),
                };
                Ok((name.clone(), value))
            })
            .collect(),
        Some(_) => Err(format!("{what}: expected an object")),
    }
}

/// Puts variables in: `${NAME}`, `${NAME:-default}`, and Cursor's `${env:NAME}`. What stands otherwise behind a `$` stays.
fn expand(text: &str, lookup: Lookup<'_>) -> Result<String, String> {
    let (mut said, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find("${") {
        let behind = &rest[start + 2..];
        let Some(end) = behind.find('}') else { break };
        said.push_str(&rest[..start]);
        let (name, default) = match behind[..end].split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (&behind[..end], None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        match lookup(name).or_else(|| default.map(str::to_owned)) {
            Some(value) => said.push_str(&value),
            None => return Err(format!("the variable {name} is not set and has no default")),
        }
        rest = &behind[end + 1..];
    }
    said.push_str(rest);
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(name: &str) -> Option<String> {
        match name {
            "TOKEN" => Some("secret".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        }
    }

    fn read(text: &str) -> Vec<Server> {
        of_text(text, "dynamic", &lookup).unwrap()
    }

    #[test]
    fn servers_of_both_programs_are_read() {
        let servers = read(
            r#"{"mcpServers":{
                "a":{"command":"npx","args":["-y","x"],"env":{"K":"${TOKEN}","N":1},"timeout":5000},
                "b":{"type":"http","url":"http://h/${MISSING:-mcp}","headers":{"Authorization":"Bearer ${TOKEN}"}},
                "c":{"type":"sse","url":"http://h/sse"},
                "d":{"type":"sdk","name":"d"},
                "e":{"httpUrl":"http://h/mcp","trust":true,"includeTools":["x"],"excludeTools":["y"],"timeout":10},
                "f":{"type":"http","url":"http://h","tools":[{"name":"t","permission_policy":"always_deny"},{"name":"u"}]}}}"#,
        );
        assert_eq!(
            servers[0].reach,
            Reach::Stdio {
                command: "npx".to_owned(),
                args: vec!["-y".to_owned(), "x".to_owned()],
                env: vec![("K".to_owned(), "secret".to_owned()), ("N".to_owned(), "1".to_owned())],
                cwd: None
            }
        );
        assert_eq!(servers[0].timeout, Some(Duration::from_secs(5)));
        assert_eq!(
            servers[1].reach,
            Reach::Http {
                url: "http://h/mcp".to_owned(),
                headers: vec![("Authorization".to_owned(), "Bearer secret".to_owned())]
            }
        );
        assert!(matches!(servers[2].reach, Reach::Sse { .. }));
        assert_eq!((&servers[3].reach, servers[3].source.as_str()), (&Reach::Host, "sdk"));
        assert!(matches!(&servers[4].reach, Reach::Http { url, .. } if url == "http://h/mcp"));
        assert!(servers[4].trusted && servers[4].timeout.is_none());
        assert_eq!(
            (servers[4].only.as_deref(), servers[4].without.as_slice()),
            (Some(&["x".to_owned()][..]), &["y".to_owned()][..])
        );
        assert_eq!(servers[5].policies, [("t".to_owned(), "always_deny".to_owned())]);
        // Without the frame, as Qwen Code takes it too.
        assert_eq!(read(r#"{"a":{"command":"x"}}"#)[0].name, "a");
    }

    #[test]
    fn variables_are_put_in_and_a_missing_one_fails_its_server_alone() {
        let expand = |text: &str| expand(text, &lookup);
        assert_eq!(expand("a${TOKEN}b$X${EMPTY}${Q:-}${env:TOKEN}${").unwrap(), "asecretb$Xsecret${");
        let servers = read(r#"{"a":{"command":"${GONE}/x"},"b":{"command":"x"}}"#);
        assert_eq!(
            servers[0].reach,
            Reach::Nowhere("the variable GONE is not set and has no default".to_owned())
        );
        assert!(matches!(servers[1].reach, Reach::Stdio { .. }));
        for broken in [
            r#"{"a":{}}"#,
            r#"{"a":{"type":"carrier-pigeon"}}"#,
            r#"{"a":{"type":"http"}}"#,
            r#"{"a":{"command":"x","args":"y"}}"#,
            r#"{"a":{"tcp":"ws://h"}}"#,
            r#"{"a":{"command":"x","env":[]}}"#,
        ] {
            assert!(matches!(read(broken)[0].reach, Reach::Nowhere(_)), "{broken}");
        }
    }

    #[test]
    fn flags_name_files_or_hold_json() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("one.json"),
            r#"{"mcpServers":{"a":{"command":"1"},"b":{"command":"2"}}}"#,
        )
        .unwrap();
        std::fs::write(folder.path().join("bad.json"), "{").unwrap();
        let read = |values: &[&str]| {
            let values: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
            of_flag(&values, folder.path(), &lookup)
        };
        let servers = read(&["one.json", r#" {"a":{"command":"3"}}"#]).unwrap();
        assert_eq!(servers.iter().map(|server| server.name.as_str()).collect::<Vec<_>>(), ["b", "a"]);
        assert!(read(&["none.json"]).unwrap_err().to_string().contains("MCP config file not found"));
        assert!(read(&["bad.json"]).unwrap_err().to_string().contains("not valid JSON"));
        assert!(read(&["{\"mcpServers\":[]}"]).is_err() && read(&["{\"a\":1}"]).is_err() && read(&["{"]).is_err());
    }

    #[test]
    fn hosts_name_their_own_servers() {
        let claude = serde_json::json!({"sdkMcpServers":["a","b"],"sdkMcpServerConfigs":{"b":{"timeout":2000,"tools":[{"name":"t","permission_policy":"always_ask"}]}}});
        let servers = of_host(&claude);
        assert_eq!(servers.iter().map(|server| server.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(servers[1].timeout, Some(Duration::from_secs(2)));
        assert_eq!(servers[1].policies.len(), 1);
        let qwen = serde_json::json!({"sdkMcpServers":{"calc":{"type":"sdk","name":"calc"}}});
        assert_eq!((of_host(&qwen)[0].name.as_str(), of_host(&qwen)[0].trusted), ("calc", true));
        assert!(!servers[0].trusted);
        assert!(of_host(&serde_json::json!({})).is_empty());
    }
}
