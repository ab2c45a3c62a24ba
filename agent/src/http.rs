//! How we ask over HTTP.

use reqwest::ClientBuilder;

/// What every client of ours is built from.
pub(crate) fn builder() -> ClientBuilder {
    // The first one stays, and a program that links us may have chosen its own. The one that the library would bring takes longer to build
    // than all of ours.
    let _ = rustls::crypto::ring::default_provider().install_default();
    ClientBuilder::new().user_agent(concat!("agentglot/", env!("CARGO_PKG_VERSION")))
}

/// A client of ours. Proxies come from the environment: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, and `NO_PROXY`, whose `*` means every host.
pub(crate) fn client() -> ClientBuilder {
    let client = builder();
    // To the library `*` means all names, and no address.
    let list = ["NO_PROXY", "no_proxy"].iter().find_map(|name| std::env::var(name).ok());
    match list.is_some_and(|list| list.split(',').any(|one| one.trim() == "*")) {
        true => client.no_proxy(),
        false => client,
    }
}
