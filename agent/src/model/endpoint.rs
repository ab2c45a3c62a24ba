use std::fmt;
use std::time::Duration;

use agentglot_models::Api;

use super::{ModelError, ModelErrorKind};

/// Where a model is, and how it is called.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Which API.
    pub api: Api,
    /// `https://api.openai.com/v1`, `https://api.anthropic.com`; with or without the version, with or without a slash at the end.
    pub base_url: String,
    /// The key, if it needs one.
    pub key: Option<Key>,
    /// More headers; they go over those that would be sent.
    pub headers: Vec<(String, String)>,
    /// How often it is tried.
    pub patience: Patience,
    /// The most bytes of a reply: its texts, thoughts and arguments together.
    pub max_reply: usize,
}

/// So many bytes a reply may have if nobody says otherwise: many times what models say at most.
pub(super) const MAX_REPLY: usize = 32 << 20;

/// How long and how often a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How often a call that failed is tried again, before anything of its reply has come.
    pub retries: u32,
    /// How long a connection may take.
    pub connect: Duration,
    /// How long the first byte of an answer may take, the connection among it.
    pub first_byte: Duration,
    /// How long nothing of a reply may come once an answer has begun.
    pub stall: Duration,
    /// The longest wait between two attempts. An API that asks for a longer one is not asked again.
    pub longest_wait: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            retries: 10,
            connect: Duration::from_secs(15),
            first_byte: Duration::from_secs(600),
            stall: Duration::from_secs(300),
            longest_wait: Duration::from_secs(120),
        }
    }
}

/// A key. It shows itself to nobody but the API.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    pub(super) text: String,
    /// It goes as `Authorization: Bearer`, not as `x-api-key`.
    pub(super) bearer: bool,
}

impl Key {
    /// A key as its API takes it: OpenAI's as `Authorization: Bearer`, Anthropic's as `x-api-key`.
    pub fn of(api: Api, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            bearer: api == Api::Openai,
        }
    }

    /// A token that goes as `Authorization: Bearer`, whatever the API.
    pub fn bearer(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            bearer: true,
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Endpoint {
    /// An API at its own address, or at another one.
    pub fn new(api: Api, base_url: Option<&str>, key: Option<Key>) -> Self {
        Self {
            api,
            base_url: base_url.filter(|url| !url.trim().is_empty()).unwrap_or(api.home()).trim().to_owned(),
            key,
            headers: Vec::new(),
            patience: Patience::default(),
            max_reply: MAX_REPLY,
        }
    }

    /// What the environment says: `OPENAI_BASE_URL`, `OPENAI_API_KEY`; `ANTHROPIC_BASE_URL`, `ANTHROPIC_API_KEY`, or
    /// `ANTHROPIC_AUTH_TOKEN` for a bearer token, `ANTHROPIC_CUSTOM_HEADERS` (`Name: value`, one a line). For both `AGENTGLOT_MODEL_RETRIES` (or
    /// `CLAUDE_CODE_MAX_RETRIES`) and, in seconds, `AGENTGLOT_MODEL_CONNECT_TIMEOUT`, `AGENTGLOT_MODEL_FIRST_BYTE_TIMEOUT`, `AGENTGLOT_MODEL_STALL_TIMEOUT`; in
    /// bytes, `AGENTGLOT_MODEL_MAX_REPLY`. An empty variable is none. An API at its own address needs a key; others may do without one.
    ///
    /// # Errors
    /// When a key is missing, or a number is none.
    pub fn of_environment(api: Api, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        let get = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let (key, wanted) = match api {
            Api::Openai => (get("OPENAI_API_KEY").map(Key::bearer), "OPENAI_API_KEY"),
            Api::Anthropic => {
                let key = get("ANTHROPIC_API_KEY").map(|key| Key::of(api, key));
                let key = key.or_else(|| get("ANTHROPIC_AUTH_TOKEN").map(Key::bearer));
                (key, "ANTHROPIC_API_KEY")
            }
        };
        let base = get(base_variable(api));
        let mut endpoint = Self::new(api, base.as_deref(), key);
        if let Some(base) = base.as_deref().filter(|base| !base.contains("://")) {
            let (variable, base) = (base_variable(api), shown(base));
            let scheme = if endpoint.is_local() { "http" } else { "https" };
            return Err(ModelError::new(
                ModelErrorKind::BadRequest,
                format!("{variable} is {base:?}, which does not begin with http:// or https://; {scheme}://{base} may be meant"),
            ));
        }
        if endpoint.key.is_none() && endpoint.base_url == api.home() {
            return Err(ModelError::new(
                ModelErrorKind::Authentication,
                format!("{wanted} is not set, and {} answers nobody without a key", api.home()),
            ));
        }
        if let (Api::Anthropic, Some(lines)) = (api, get("ANTHROPIC_CUSTOM_HEADERS")) {
            let headers = lines.lines().filter_map(|line| line.split_once(':'));
            endpoint.headers = headers.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect();
        }
        let number = |names: &[&str]| -> Result<Option<u64>, ModelError> {
            let Some((name, text)) = names.iter().find_map(|name| Some((*name, get(name)?))) else {
                return Ok(None);
            };
            let wrong = |_| ModelError::new(ModelErrorKind::BadRequest, format!("{name} is {text:?}, which is no whole number"));
            text.parse().map(Some).map_err(wrong)
        };
        if let Some(most) = number(&["AGENTGLOT_MODEL_MAX_REPLY"])? {
            endpoint.max_reply = usize::try_from(most).unwrap_or(usize::MAX);
        }
        let patience = &mut endpoint.patience;
        if let Some(retries) = number(&["AGENTGLOT_MODEL_RETRIES", "CLAUDE_CODE_MAX_RETRIES"])? {
            patience.retries = retries.try_into().unwrap_or(u32::MAX);
        }
        for (name, slot) in [
            ("AGENTGLOT_MODEL_CONNECT_TIMEOUT", &mut patience.connect),
            ("AGENTGLOT_MODEL_FIRST_BYTE_TIMEOUT", &mut patience.first_byte),
            ("AGENTGLOT_MODEL_STALL_TIMEOUT", &mut patience.stall),
        ] {
            if let Some(seconds) = number(&[name])? {
                *slot = Duration::from_secs(seconds);
            }
        }
        Ok(endpoint)
    }

    /// The server that the environment names, whatever is wrong with it, for people: `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`.
    pub fn base_of_environment(api: Api, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let base = variable(base_variable(api))?;
        Some(shown(base.trim())).filter(|base| !base.is_empty())
    }

    /// The model that the environment names: `OPENAI_MODEL`, `ANTHROPIC_MODEL`.
    pub fn model_of_environment(api: Api, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let name = match api {
            Api::Openai => "OPENAI_MODEL",
            Api::Anthropic => "ANTHROPIC_MODEL",
        };
        variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// Where requests go.
    pub(super) fn url(&self) -> String {
        let (base, query) = self
            .base_url
            .split_once('?')
            .map_or((self.base_url.as_str(), None), |(base, query)| (base, Some(query)));
        let base = base.trim_end_matches('/');
        let url = match self.api {
            Api::Openai if base.ends_with("/chat/completions") => base.to_owned(),
            // A server's root: the API of all of them is below `/v1`.
            Api::Openai if is_root(base) => format!("{base}/v1/chat/completions"),
            Api::Openai => format!("{base}/chat/completions"),
            Api::Anthropic if base.ends_with("/messages") => base.to_owned(),
            Api::Anthropic if base.ends_with("/v1") => format!("{base}/messages"),
            Api::Anthropic => format!("{base}/v1/messages"),
        };
        match query {
            Some(query) => format!("{url}?{query}"),
            None => url,
        }
    }

    /// Whether the server is on this machine.
    pub fn is_local(&self) -> bool {
        let host = self.host();
        let name = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name).trim_matches(['[', ']']);
        let loopback = |name: &str| name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        name.eq_ignore_ascii_case("localhost") || loopback(name) || loopback(host.trim_matches(['[', ']']))
    }

    /// Where the server lists its models.
    pub(super) fn models_url(&self) -> String {
        let url = self.url();
        let (path, query) = url.split_once('?').map_or((url.as_str(), None), |(path, query)| (path, Some(query)));
        let base = path.trim_end_matches("/chat/completions").trim_end_matches("/messages");
        match query {
            Some(query) => format!("{base}/models?{query}"),
            None => format!("{base}/models"),
        }
    }

    /// The server, as messages name it: no path, no user, no key.
    pub(super) fn host(&self) -> String {
        let rest = self.base_url.split_once("://").map_or(self.base_url.as_str(), |(_, rest)| rest);
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        host.rsplit('@').next().unwrap_or_default().to_owned()
    }
}

/// The variable that holds the key of an API, if there is one.
pub(crate) fn key_variable(api: Api) -> &'static str {
    let names: &[&str] = match api {
        Api::Anthropic => &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
        Api::Openai => &["OPENAI_API_KEY"],
    };
    names.iter().find(|name| std::env::var_os(name).is_some()).copied().unwrap_or_default()
}

/// Whether a URL has no path.
fn is_root(base: &str) -> bool {
    !base.split_once("://").map_or(base, |(_, rest)| rest).contains('/')
}

const fn base_variable(api: Api) -> &'static str {
    match api {
        Api::Openai => "OPENAI_BASE_URL",
        Api::Anthropic => "ANTHROPIC_BASE_URL",
    }
}

/// An address for people. In one without a scheme nobody else would find a user's name and password.
fn shown(base: &str) -> String {
    match base.rsplit_once('@') {
        Some((_, host)) if !base.contains("://") => format!("[redacted]@{host}"),
        _ => base.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_may_have_its_version_and_a_slash() {
        let url = |api, base: &str| Endpoint::new(api, Some(base), None).url();
        for base in [
            "http://h:1",
            "http://h:1/",
            "http://h:1/v1",
            "http://h:1/v1/",
            "http://h:1/v1/chat/completions",
        ] {
            assert_eq!(url(Api::Openai, base), "http://h:1/v1/chat/completions", "{base}");
        }
        assert_eq!(url(Api::Openai, "http://h/api/paas/v4/"), "http://h/api/paas/v4/chat/completions");
        assert_eq!(
            url(Api::Openai, "https://x.azure.com/openai/deployments/d?api-version=1"),
            "https://x.azure.com/openai/deployments/d/chat/completions?api-version=1"
        );
        for base in ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"] {
            assert_eq!(url(Api::Anthropic, base), "http://h:1/v1/messages", "{base}");
        }
        assert_eq!(url(Api::Anthropic, "http://h/anthropic"), "http://h/anthropic/v1/messages");
        assert_eq!(url(Api::Openai, ""), "https://api.openai.com/v1/chat/completions");
        assert_eq!(Endpoint::new(Api::Openai, Some("http://me:secret@h:1/x"), None).host(), "h:1");
        let models = |api, base| Endpoint::new(api, Some(base), None).models_url();
        assert_eq!(models(Api::Openai, "http://h:1/"), "http://h:1/v1/models");
        assert_eq!(models(Api::Openai, "http://h:1/v1/chat/completions?v=1"), "http://h:1/v1/models?v=1");
        assert_eq!(models(Api::Anthropic, "http://h:1"), "http://h:1/v1/models");
        let local = |base| Endpoint::new(Api::Openai, Some(base), None).is_local();
        assert!(local("http://127.0.0.1:8080/v1") && local("http://localhost/v1") && local("http://[::1]:80") && local("http://[::1]"));
        assert!(!local("http://localhost.example:1") && !local("https://api.openai.com/v1") && !local("http://192.168.0.1:1"));
    }

    #[test]
    fn the_environment_says_where_and_how() {
        let variables = |list: &'static [(&str, &str)]| move |name: &str| list.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        let endpoint = Endpoint::of_environment(
            Api::Anthropic,
            &variables(&[
                ("ANTHROPIC_AUTH_TOKEN", "t0ken"),
                ("ANTHROPIC_API_KEY", " "),
                ("ANTHROPIC_CUSTOM_HEADERS", "X-A: 1\nX-B:2"),
                ("CLAUDE_CODE_MAX_RETRIES", "2"),
                ("AGENTGLOT_MODEL_STALL_TIMEOUT", "7"),
            ]),
        )
        .unwrap();
        assert_eq!(endpoint.key, Some(Key::bearer("t0ken")));
        assert_eq!(endpoint.headers, [("X-A".into(), "1".into()), ("X-B".into(), "2".into())]);
        assert_eq!((endpoint.patience.retries, endpoint.patience.stall), (2, Duration::from_secs(7)));
        assert!(!format!("{endpoint:?}").contains("t0ken"));
        let error = Endpoint::of_environment(Api::Openai, &variables(&[])).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Authentication);
        assert!(Endpoint::of_environment(Api::Openai, &variables(&[("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")])).is_ok());
        let error = Endpoint::of_environment(Api::Openai, &variables(&[("OPENAI_BASE_URL", "127.0.0.1:8080/v1")])).unwrap_err();
        assert!(
            error.message.contains("OPENAI_BASE_URL") && error.message.contains("http://127.0.0.1:8080/v1 may be meant"),
            "{}",
            error.message
        );
        assert!(Endpoint::of_environment(Api::Openai, &variables(&[("OPENAI_API_KEY", "k"), ("AGENTGLOT_MODEL_RETRIES", "many")])).is_err());
    }
}
