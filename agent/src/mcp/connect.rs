//! How connections to servers begin.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{InitializeResult, ListToolsResult};
use rmcp::service::ClientInitializeError;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};

use super::Options;
use super::bounded::Bounded;
use super::client::{self, Client};
use super::config::{Reach, Server};
use super::link::{self, Around, Link, Offer, Remote, Trouble, innermost};
use super::sse::Sse;
use super::stdio::{Fault, LONGEST_LINE, Stdio, ended};
use crate::control_requests::HostRequests;
use agentglot_process::{Child, Environment, Plan};

/// How long a connection to an address may take to come up.
const CONNECT: Duration = Duration::from_secs(10);

/// How many redirects are followed.
const REDIRECTS: usize = 5;

/// A server that has come up.
#[derive(Clone, Debug)]
pub(super) struct Connected {
    pub(super) link: Link,
    pub(super) offer: Offer,
}

/// Connects to a server outside of the host. It takes as long as it takes.
pub(super) async fn connect(server: &Server, options: &Options) -> Result<Connected, Trouble> {
    match &server.reach {
        Reach::Stdio { command, args, env, cwd } => {
            let mut plan = Plan::new(command).args(args);
            plan.env = options
                .environment
                .iter()
                .chain(env)
                .fold(Environment::nothing(), |all, (name, value)| all.set(name, value));
            plan.cwd = Some(cwd.as_ref().map_or_else(|| options.cwd.clone(), |cwd| options.cwd.join(cwd)));
            plan.watcher = options.watcher.clone();
            let child = Child::start(plan).map_err(|error| Trouble::Gone(error.to_string()))?;
            let (child, fault) = (Arc::new(child), Fault::default());
            let transport = Stdio::new(Arc::clone(&child), fault.clone());
            let connected = serve(server, options, transport, Some(Arc::clone(&child)), fault).await;
            if connected.is_err() {
                tracing::info!(
                    server = server.name,
                    "an MCP server did not come up: {}",
                    ended(None, &child.stderr_tail())
                );
                child.begin_stop(super::stdio::STEPS);
            }
            connected
        }
        Reach::Http { url, headers } => {
            let client = http_client()?;
            let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                .custom_headers(named(headers)?)
                .max_sse_event_size(LONGEST_LINE);
            let transport = StreamableHttpClientTransport::with_client(client, config);
            serve(server, options, transport, None, Fault::default()).await
        }
        Reach::Sse { url, headers } => {
            let (headers, fault) = (named(headers)?.into_iter().collect(), Fault::default());
            let transport = Sse::open(http_client()?, url, headers, fault.clone()).await?;
            serve(server, options, transport, None, fault).await
        }
        Reach::Nowhere(why) => Err(Trouble::Gone(why.clone())),
        Reach::Host => Err(Trouble::Gone("only the host can begin this".to_owned())),
    }
}

pub(super) fn http_client() -> Result<reqwest::Client, Trouble> {
    // What is sent to one host, headers of the user's among it, is sent to no other.
    let within = reqwest::redirect::Policy::custom(|attempt| {
        let same = attempt.previous().iter().all(|from| from.origin() == attempt.url().origin());
        if same && attempt.previous().len() <= REDIRECTS {
            attempt.follow()
        } else {
            attempt.stop()
        }
    });
    let client = crate::http::client().connect_timeout(CONNECT).redirect(within);
    client.build().map_err(|error| Trouble::Gone(innermost(&error)))
}

/// Headers in the types of HTTP. What cannot be one is named without its value, which may be a secret.
pub(super) fn named(headers: &[(String, String)]) -> Result<HashMap<reqwest::header::HeaderName, reqwest::header::HeaderValue>, Trouble> {
    let header = |(name, value): &(String, String)| {
        let name = name
            .parse()
            .map_err(|_| Trouble::Gone(format!("{name:?} cannot be the name of a header")))?;
        let mut value: reqwest::header::HeaderValue = value
            .parse()
            .map_err(|_| Trouble::Gone(format!("the value of the header {name} cannot be sent")))?;
        value.set_sensitive(true);
        Ok((name, value))
    };
    headers.iter().map(header).collect()
}

async fn serve<T>(server: &Server, options: &Options, transport: T, child: Option<Arc<Child>>, fault: Fault) -> Result<Connected, Trouble>
where
    T: rmcp::transport::Transport<RoleClient> + 'static,
{
    let (client, heard) = Client::new(&server.name, address(&options.cwd), options.asks_user);
    let transport = Bounded::new(transport, fault.clone());
    let service = client.serve(transport).await.map_err(|error| trouble(&error, &fault))?;
    let mut offer = Offer::default();
    if let Some(peer) = service.peer().peer_info() {
        offer.info = peer.server_info.clone();
        offer.instructions = peer.instructions.clone();
        offer.capabilities = peer.capabilities.clone();
    }
    let remote = Remote {
        service,
        heard,
        fault,
        child,
    };
    link::list(&mut offer, |method, params| remote.ask(method, params, options.connect)).await?;
    let link = Link::Remote(Arc::new(remote));
    Ok(Connected { link, offer })
}

fn trouble(error: &ClientInitializeError, fault: &Fault) -> Trouble {
    if error.is_authorization_required() || error.auth_challenge().is_some() {
        return Trouble::NeedsAuth;
    }
    if let Some(why) = fault.get() {
        return Trouble::Gone(why);
    }
    match error {
        ClientInitializeError::JsonRpcError(error) => Trouble::Refused {
            code: error.code.0.into(),
            message: error.message.clone().into_owned(),
        },
        ClientInitializeError::ConnectionClosed(_) => Trouble::Gone("the connection was closed".to_owned()),
        // What these hold is a whole message of the server's.
        ClientInitializeError::ExpectedInitResponse(_) | ClientInitializeError::ExpectedInitResult(_) => {
            Trouble::Nonsense("initialize", "it has another shape".to_owned())
        }
        ClientInitializeError::TransportError { error, .. } => {
            let said = innermost(error.error.as_ref());
            // Where the server does not say how to log in, the status is part of a text.
            match said.contains("401 Unauthorized") {
                true => Trouble::NeedsAuth,
                false => Trouble::Gone(said),
            }
        }
        other => Trouble::Gone(other.to_string()),
    }
}

/// The address of a folder: `file:///a%20b`.
pub(super) fn address(folder: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut address = String::from("file://");
    for &byte in folder.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => address.push(char::from(byte)),
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address
}

/// Greets a server in the host. `manifest`: what the host has told of it beforehand (`sdkMcpServerManifests`); then the server is asked
/// nothing that it says.
pub(super) async fn greet(server: &Server, manifest: Option<&Value>, requests: &HostRequests, options: &Options) -> Result<Connected, Trouble> {
    let cx = Around {
        requests,
        server: &server.name,
        timeout: options.connect,
        tell: &|_| {},
    };
    let known = manifest.and_then(|manifest| {
        let initialize = serde_json::from_value(manifest.get("initializeResult")?.clone()).ok()?;
        let tools = manifest
            .get("toolsListResult")
            .and_then(|tools| serde_json::from_value::<ListToolsResult>(tools.clone()).ok());
        Some((initialize, tools))
    });
    let mut listed = None;
    // The host has counted two requests itself where it tells the tools.
    let link = Link::host(&server.name, if known.is_some() { 2 } else { 0 });
    let Link::Host(host) = &link else {
        return Err(Trouble::Gone("it is not in the host".to_owned()));
    };
    let result: InitializeResult = match known {
        Some((initialize, tools)) => {
            listed = tools;
            initialize
        }
        None => {
            let params = serde_json::to_value(client::introduction(options.asks_user)).unwrap_or_else(|_| json!({}));
            let result = host.request(cx, "initialize", params, false).await?;
            host.notify(requests, "notifications/initialized", None);
            serde_json::from_value(result).map_err(|error| Trouble::Nonsense("initialize", error.to_string()))?
        }
    };
    let mut offer = Offer {
        info: Some(result.server_info),
        instructions: result.instructions,
        capabilities: result.capabilities,
        ..Offer::default()
    };
    match listed {
        Some(tools) => offer.tools = tools.tools,
        None => link.list(&mut offer, cx).await?,
    }
    Ok(Connected { link, offer })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_addresses() {
        assert_eq!(address(Path::new("/a b/ö")), "file:///a%20b/%C3%B6");
    }

    #[test]
    fn headers_that_cannot_be_sent_do_not_show_their_values() {
        let error = named(&[("A".to_owned(), "se\ncret".to_owned())]).unwrap_err().to_string();
        assert!(error.contains("the header a") && !error.contains("cret"), "{error}");
        assert!(named(&[("a b".to_owned(), "x".to_owned())]).is_err());
    }
}
