//! What is known of models by name, and of servers by host: prices, limits, and how a request names its parameters.

use std::sync::{Arc, OnceLock};

use agentglot_adapters::raw::event::{Count, Usage};
use serde::Deserialize;

/// Which API a model is behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    /// `POST {base}/chat/completions`.
    Openai,
    /// `POST {base}/v1/messages`.
    Anthropic,
}

/// What is known of models and servers: prices, limits, and how parameters are called.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    /// Models; of one table the longest name that fits counts.
    #[serde(default, rename = "model")]
    models: Vec<Known>,
    /// Servers; of one table the first that fits counts.
    #[serde(default, rename = "server")]
    servers: Vec<Server>,
    /// Where to look when nothing here fits.
    #[serde(skip)]
    behind: Option<Box<Self>>,
}

/// The window of a model of which nothing is known.
const USUAL_WINDOW: u64 = 128_000;

/// The table that this process goes by.
static TABLE: OnceLock<Arc<Catalog>> = OnceLock::new();

/// The table that this process goes by: the program's own, if no other was [`choose`]n before.
pub fn catalog() -> Arc<Catalog> {
    TABLE.get_or_init(|| Arc::new(Catalog::builtin())).clone()
}

/// Goes by this table from now on; false if another one has been looked at already.
pub fn choose(catalog: Catalog) -> bool {
    TABLE.set(Arc::new(catalog)).is_ok()
}

/// What a reply cost in US dollars, if the model's price is known.
pub fn cost(model: &str, usage: &Usage<'_>) -> Option<f64> {
    catalog().cost(model, usage)
}

/// The tokens that a model can read.
pub fn window(model: &str) -> u64 {
    catalog().window(model)
}

/// What is known of a model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The beginning of its name.
    pub name: String,
    /// Tokens of input and output together.
    pub context: Option<u64>,
    /// The most tokens of a reply.
    pub output: Option<u64>,
    /// US dollars for a million tokens of input.
    pub input_price: Option<f64>,
    /// US dollars for a million tokens of output.
    pub output_price: Option<f64>,
    /// US dollars for a million tokens read from the cache; as input if absent.
    pub cache_read_price: Option<f64>,
    /// US dollars for a million tokens written to the cache; as input if absent.
    pub cache_write_price: Option<f64>,
    /// See [`Manner`].
    pub token_limit: Option<TokenLimit>,
    /// See [`Manner`].
    pub thinking: Option<Asking>,
}

/// What is known of a server.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    host: String,
    token_limit: Option<TokenLimit>,
    stream_usage: Option<bool>,
    thinking: Option<Asking>,
}

/// How a request has to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// The member that says the most tokens of a reply (OpenAI-compatible APIs).
    pub token_limit: TokenLimit,
    /// Whether `stream_options.include_usage` is asked for.
    pub stream_usage: bool,
    /// How thoughts are asked for.
    pub thinking: Asking,
}

/// The member that says the most tokens of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenLimit {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`: gpt-5, the o-series.
    MaxCompletionTokens,
}

/// How thoughts are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asking {
    /// Not at all.
    None,
    /// `reasoning_effort`.
    Effort,
    /// `enable_thinking`, `thinking_budget`.
    Qwen,
    /// `reasoning: {max_tokens, effort}`.
    Openrouter,
    /// Anthropic's `thinking: {type: enabled, budget_tokens}`.
    Budget,
    /// Anthropic's `thinking: {type: adaptive}` with `output_config.effort`.
    Adaptive,
}

impl Api {
    /// Its name: `openai`, `anthropic`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// Reads its name.
    pub fn read(name: &str) -> Option<Self> {
        [Self::Openai, Self::Anthropic].into_iter().find(|api| api.name() == name)
    }

    /// Where it is if nobody says otherwise.
    pub const fn home(self) -> &'static str {
        match self {
            Self::Openai => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
        }
    }
}

impl Catalog {
    /// What comes with the program.
    pub fn builtin() -> Self {
        // A test reads it.
        toml::from_str(include_str!("models.toml")).unwrap_or_default()
    }

    /// A table of the user's, in TOML like the one that comes with the program (docs/agent.md). What it does not know, the program's does.
    ///
    /// # Errors
    /// When it is no such table.
    pub fn over(text: &str) -> Result<Self, toml::de::Error> {
        let mut own: Self = toml::from_str(text)?;
        own.behind = Some(Box::new(Self::builtin()));
        Ok(own)
    }

    /// What is known of a model.
    pub fn model(&self, model: &str) -> Option<&Known> {
        let names = spellings(model);
        let fits = |known: &&Known| names.iter().any(|name| name.starts_with(known.name.as_str()));
        let own = self.models.iter().filter(fits).max_by_key(|known| known.name.len());
        own.or_else(|| self.behind.as_ref()?.model(model))
    }

    /// How a model on a host is asked.
    pub fn manner(&self, api: Api, host: &str, model: &str) -> Manner {
        let server = self.server(host);
        let known = self.model(model);
        let token_limit = server.and_then(|server| server.token_limit).or(known.and_then(|known| known.token_limit));
        let thinking = server.and_then(|server| server.thinking).or(known.and_then(|known| known.thinking));
        Manner {
            token_limit: token_limit.unwrap_or(TokenLimit::MaxTokens),
            stream_usage: server.and_then(|server| server.stream_usage).unwrap_or(true),
            thinking: match (api, thinking) {
                (Api::Anthropic, Some(Asking::Adaptive)) => Asking::Adaptive,
                (Api::Anthropic, _) => Asking::Budget,
                (Api::Openai, Some(Asking::Budget | Asking::Adaptive) | None) => Asking::Effort,
                (Api::Openai, Some(asking)) => asking,
            },
        }
    }

    /// What a reply cost in US dollars; `None` if the model's price or its usage is not known.
    pub fn cost(&self, model: &str, usage: &Usage<'_>) -> Option<f64> {
        let known = self.model(model)?;
        let (input, output) = (known.input_price?, known.output_price?);
        let part = |tokens: Option<Count<'_>>, price: f64| tokens.map_or(0.0, |tokens| tokens.value as f64 * price / 1e6);
        let fresh = usage.fresh_tokens().map(Count::derived);
        fresh?;
        Some(
            part(fresh, input)
                + part(usage.output, output)
                + part(usage.cache_read, known.cache_read_price.unwrap_or(input))
                + part(usage.cache_write, known.cache_write_price.unwrap_or(input)),
        )
    }

    /// The tokens that a model can read.
    pub fn window(&self, model: &str) -> u64 {
        self.model(model).and_then(|known| known.context).unwrap_or(USUAL_WINDOW)
    }

    fn server(&self, host: &str) -> Option<&Server> {
        let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
        let fits = |server: &&Server| {
            let rest = host.strip_suffix(server.host.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        self.servers.iter().find(fits).or_else(|| self.behind.as_ref()?.server(host))
    }
}

/// A model's name as it stands, and without what routers and clouds put before it: `anthropic/claude-…`, `us.anthropic.claude-…`.
fn spellings(model: &str) -> Vec<String> {
    let model = model.to_ascii_lowercase();
    let last = model.rsplit('/').next().unwrap_or_default().to_owned();
    let inner = last.rsplit_once("anthropic.").map(|(_, inner)| inner.to_owned());
    let mut names = vec![model, last];
    names.extend(inner);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_and_the_longest_name_counts() {
        let catalog: Catalog = toml::from_str(include_str!("models.toml")).unwrap();
        assert_eq!(catalog, Catalog::builtin());
        let name = |model: &str| catalog.model(model).map(|known| known.name.clone());
        assert_eq!(name("claude-opus-4-5-20251101").as_deref(), Some("claude-opus-4-5"));
        assert_eq!(name("us.anthropic.claude-sonnet-4-20250514-v1:0").as_deref(), Some("claude-sonnet-4"));
        assert_eq!(name("openai/gpt-4o-mini").as_deref(), Some("gpt-4o-mini"));
        assert_eq!(name("my-model"), None);
    }

    #[test]
    fn rule_15_the_token_limit_is_named_by_server_and_model() {
        let catalog = Catalog::builtin();
        let limit = |host: &str, model: &str| catalog.manner(Api::Openai, host, model).token_limit;
        assert_eq!(limit("127.0.0.1:8080", "gpt-5-mini"), TokenLimit::MaxCompletionTokens);
        assert_eq!(limit("127.0.0.1:8080", "o3"), TokenLimit::MaxCompletionTokens);
        assert_eq!(limit("127.0.0.1:8080", "llama"), TokenLimit::MaxTokens);
        assert_eq!(limit("api.openai.com", "gpt-4o"), TokenLimit::MaxCompletionTokens);
        assert_eq!(limit("api.mistral.ai", "gpt-5"), TokenLimit::MaxTokens);
        assert!(!catalog.manner(Api::Openai, "api.mistral.ai", "x").stream_usage);
        let own = Catalog::over(
            "[[server]]\nhost = \"api.mistral.ai\"\nstream_usage = true\n[[model]]\nname = \"my-\"\ntoken_limit = \"max_completion_tokens\"\n",
        )
        .unwrap();
        assert!(own.manner(Api::Openai, "api.mistral.ai", "x").stream_usage);
        assert_eq!(own.manner(Api::Openai, "h", "my-model").token_limit, TokenLimit::MaxCompletionTokens);
        assert_eq!(own.manner(Api::Openai, "h", "o1").token_limit, TokenLimit::MaxCompletionTokens);
        assert!(Catalog::over("[[model]]\nname = 1").is_err());
    }

    #[test]
    fn cost_counts_each_kind_of_token_once() {
        let catalog =
            Catalog::over("[[model]]\nname = \"m\"\ninput_price = 3.0\noutput_price = 15.0\ncache_read_price = 0.3\ncache_write_price = 3.75")
                .unwrap();
        let count = |n| Some(Count::derived(n));
        let usage = Usage {
            input: count(1_000_000),
            output: count(100_000),
            cache_read: count(2_000_000),
            cache_write: count(1_000_000),
            ..Usage::default()
        };
        let cost = catalog.cost("m-1", &usage).unwrap();
        assert!((cost - (3.0 + 1.5 + 0.6 + 3.75)).abs() < 1e-9, "{cost}");
        assert_eq!(catalog.cost("unknown", &usage), None);
        assert_eq!(catalog.cost("m", &Usage::default()), None);
    }
}
