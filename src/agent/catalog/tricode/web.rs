//! `fetch_url` and `web_search`

use std::net::{IpAddr, Ipv4Addr};

use serde_json::Value;

use super::args::{given, int, text};
use crate::agent::tool::Given;

pub(super) fn fetch(input: &Value) -> Given {
    let url = match text(input, "url") {
        Ok(url) => url,
        Err(wrong) => return wrong,
    };
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return Given::error(format!("Only HTTP/HTTPS protocols are supported, got: {scheme}"));
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    if host.is_empty() {
        return Given::error("Invalid URL: missing hostname");
    }
    if is_private(host) {
        return Given::error(format!("Access to private IP addresses is forbidden: {host}"));
    }
    Given::error("Failed to fetch URL: fetching from the web is switched off")
}

/// Whether a host is an address that only this machine or its network knows.
fn is_private(host: &str) -> bool {
    match host.parse() {
        Ok(IpAddr::V4(address)) => !is_public(address),
        Ok(IpAddr::V6(_)) => true,
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

fn is_public(address: Ipv4Addr) -> bool {
    !(address.is_loopback() || address.is_private() || address.is_link_local() || address.is_unspecified())
}

pub(super) fn search(input: &Value) -> Given {
    if let Err(wrong) = text(input, "query") {
        return wrong;
    }
    if given(input, "max_results").is_some_and(|most| int(most).is_ok_and(|most| most < 1)) {
        return Given::error("max_results must be at least 1");
    }
    Given::error("Search failed: no search engine is configured")
}
