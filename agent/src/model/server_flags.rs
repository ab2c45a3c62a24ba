//! Flags by which a vendor's hosts say whose model it is to be. They go over the variables of the environment; what the back end cannot do is
//! refused: nothing that was meant for one server goes to another.

use agentglot_adapters::raw::launch::Launch;
use agentglot_models::Api;

use super::Endpoint;
use crate::flags::given;

/// What such a flag says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerFlag {
    /// The address of the server, which this variable of an API says too.
    Address(&'static str, Api, &'static str),
    /// The key, likewise. One of another API is not used.
    Key(&'static str, Api, &'static str),
    /// The model is one of this machine.
    Local(&'static str),
}

impl ServerFlag {
    /// What it is called.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Address(name, ..) | Self::Key(name, ..) | Self::Local(name) => name,
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
/// When it names a server of another API.
pub fn variables(known: &[ServerFlag], launch: &Launch, api: Api) -> Result<Vec<(&'static str, String)>, String> {
    let mut found = Vec::new();
    for flag in known {
        let Some((name, value)) = given(launch, flag.name()) else { continue };
        match flag {
            ServerFlag::Address(_, of, _) if *of != api => {
                let (meant, is) = (of.name(), api.name());
                return Err(format!(
                    "{name} speaks of a server of {meant}, and the back end is model:{is}: begin with --backend model:{meant}, or without {name}"
                ));
            }
            ServerFlag::Key(_, of, _) if *of != api => {}
            ServerFlag::Address(_, _, variable) | ServerFlag::Key(_, _, variable) => {
                found.push((*variable, value.as_deref().unwrap_or_default().trim().to_owned()))
            }
            ServerFlag::Local(_) => {}
        }
    }
    Ok(found)
}
