//! Flags by which a vendor's hosts say whose model it is to be. They go over the variables of the environment; what the back end cannot do is
//! refused: nothing that was meant for one server goes to another.

use agentglot_adapters::raw::launch::Launch;
use agentglot_models::Api;

use super::Endpoint;
use crate::flags::given;

/// What such a flag says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerFlag {
    /// What this variable of an API says too.
    Variable(&'static str, Api, &'static str),
    /// The model is one of this machine.
    Local(&'static str),
    /// Which API is spoken, by its words. Other words are for what no back end speaks.
    Api(&'static str, &'static [(&'static str, Api)]),
}

impl ServerFlag {
    /// What it is called.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Variable(name, ..) | Self::Api(name, _) | Self::Local(name) => name,
        }
    }
}

/// Why a server may not be used: the command line wants one of this machine.
pub fn elsewhere(known: &[ServerFlag], launch: &Launch, endpoint: &Endpoint) -> Option<String> {
    let mut flags = known.iter().filter(|flag| matches!(flag, ServerFlag::Local(_)));
    let (name, _) = flags.find_map(|flag| given(launch, flag.name())).filter(|_| !endpoint.is_local())?;
    Some(format!("{name} wants a model on this machine, and {} is elsewhere", endpoint.base_url))
}

/// What the command line says of the server of an API, as variables.
///
/// # Errors
/// When it speaks of another API.
pub fn variables(known: &[ServerFlag], launch: &Launch, api: Api) -> Result<Vec<(&'static str, String)>, String> {
    let mut found = Vec::new();
    for flag in known {
        let Some((name, value)) = given(launch, flag.name()) else { continue };
        let value = value.as_deref().unwrap_or_default().trim();
        let other = |meant: Option<Api>| match meant {
            Some(meant) => format!(
                "{name} speaks of a server of {}, and the back end is model:{}: begin with --backend model:{}, or without {name}",
                meant.name(),
                api.name(),
                meant.name(),
            ),
            None => format!("{name} {value} is no API that the built-in agent speaks: it speaks model:openai and model:anthropic"),
        };
        match flag {
            ServerFlag::Variable(_, of, _) if *of != api => return Err(other(Some(*of))),
            ServerFlag::Variable(_, _, variable) => found.push((*variable, value.to_owned())),
            ServerFlag::Local(_) => {}
            ServerFlag::Api(_, words) => {
                let meant = words.iter().find(|(word, _)| *word == value).map(|(_, api)| *api);
                if meant != Some(api) {
                    return Err(other(meant));
                }
            }
        }
    }
    Ok(found)
}
