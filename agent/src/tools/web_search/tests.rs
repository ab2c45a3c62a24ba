use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

/// An engine that answers every request with the same, and keeps what it was asked.
pub(crate) async fn engine(kind: &'static str, status: u16, body: &'static str, key: Option<&'static str>) -> (Engine, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let keeps = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            let mut chunk = [0; 1024];
            while !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
                match stream.read(&mut chunk).await {
                    Ok(0) | Err(_) => break,
                    Ok(read) => head.extend_from_slice(&chunk[..read]),
                }
            }
            keeps.lock().unwrap().push(String::from_utf8(head).unwrap());
            let length = body.len();
            let said = format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
            let _ = stream.write_all(said.as_bytes()).await;
        }
    });
    (at(address, key), asked)
}

fn at(address: SocketAddr, key: Option<&str>) -> Engine {
    let url = format!("http://{address}/search?format=json");
    Engine::new(Some(&url), |name| key.filter(|_| name == "AGENTGLOT_SEARCH_KEY").map(str::to_owned)).unwrap()
}

fn asked(words: &str) -> Asked<'_> {
    Asked {
        words,
        most: 5,
        ..Asked::default()
    }
}

pub(crate) const BRAVE: &str = r#"{"type":"search","query":{"original":"q"},"web":{"results":[
    {"title":"Serde &amp; friends","url":"https://serde.rs/","description":"A <strong>framework</strong> for data"},
    {"title":"No address","url":"nowhere"},
    {"title":"Docs","url":"https://docs.rs/serde","description":""}]}}"#;

#[tokio::test]
async fn the_api_is_asked_with_its_key() {
    let (engine, heard) = engine("application/json", 200, BRAVE, Some("k3y")).await;
    let hits = search(&engine, asked("rust & serde")).await.unwrap();
    let told: Vec<[&str; 3]> = hits.iter().map(|hit| [hit.title.as_str(), &hit.url, &hit.text]).collect();
    assert_eq!(
        told,
        [
            ["Serde & friends", "https://serde.rs/", "A framework for data"],
            ["Docs", "https://docs.rs/serde", ""]
        ]
    );
    let heard = heard.lock().unwrap()[0].clone();
    assert!(
        heard.starts_with("GET /search?q=rust+%26+serde&format=json&count=5 HTTP/1.1\r\n"),
        "{heard}"
    );
    assert!(heard.contains("x-subscription-token: k3y\r\n"), "{heard}");
    assert!(!format!("{engine:?}").contains("k3y"));
}

#[tokio::test]
async fn hosts_are_asked_for_and_checked() {
    let (engine, heard) = engine("application/json", 200, BRAVE, None).await;
    let (only, without) = (["docs.rs".to_owned(), "b.org".to_owned()], ["serde.rs".to_owned()]);
    let hits = search(&engine, Asked { only: &only, ..asked("x") }).await.unwrap();
    assert_eq!((hits.len(), hits[0].title.as_str()), (1, "Docs"));
    let hits = search(
        &engine,
        Asked {
            without: &without,
            ..asked("x")
        },
    )
    .await
    .unwrap();
    assert_eq!((hits.len(), hits[0].title.as_str()), (1, "Docs"));
    let heard = heard.lock().unwrap();
    assert!(
        heard[0].starts_with("GET /search?q=x+%28site%3Adocs.rs+OR+site%3Ab.org%29&format=json HTTP"),
        "{heard:?}"
    );
    assert!(heard[1].starts_with("GET /search?q=x+-site%3Aserde.rs&format=json HTTP"), "{heard:?}");
    for (url, host, below) in [
        ("https://a.docs.rs/x", "docs.rs", true),
        ("https://DOCS.rs", "docs.rs", true),
        ("https://mydocs.rs/", "docs.rs", false),
        ("https://docs.rs.evil/", "docs.rs", false),
    ] {
        assert_eq!(is_below(url, host), below, "{url}");
    }
}

#[tokio::test]
async fn other_engines_are_understood() {
    let searx = r#"{"query":"q","results":[{"title":"T","url":"https://a.org/","content":"C"}]}"#;
    let (json, _) = engine("application/json", 200, searx, None).await;
    let hit = Hit {
        title: "T".to_owned(),
        url: "https://a.org/".to_owned(),
        text: "C".to_owned(),
    };
    assert_eq!(search(&json, asked("q")).await.unwrap(), [hit]);
    let page = r#"<html><body><a href="/settings">Settings</a><a href="http://127.0.0.1/help">Help</a>
        <div><a href="https://a.org/x"><img alt="icon"><div>a.org</div><div>First [one]</div></a><div>About the
        first.</div></div>
        <div><a href="https://b.org/"><h3>Second</h3></a><p>About the second.</p><a href="https://a.org/x">again</a></div></body></html>"#;
    let (html, _) = engine("text/html", 200, page, None).await;
    let hits = search(&html, asked("q")).await.unwrap();
    let told: Vec<[&str; 2]> = hits.iter().map(|hit| [hit.title.as_str(), &hit.url]).collect();
    assert_eq!(told, [["a.org First [one]", "https://a.org/x"], ["Second", "https://b.org/"]]);
    assert_eq!(hits[0].text, "About the first.");
    assert!(hits[1].text.starts_with("About the second."), "{}", hits[1].text);
    let (none, _) = engine("application/json", 200, r#"{"type":"search","query":{}}"#, None).await;
    assert_eq!(search(&none, asked("q")).await.unwrap(), []);
}

#[tokio::test]
async fn failures_are_told() {
    for (kind, status, body, key, why) in [
        (
            "text/plain",
            429,
            "slow down",
            None,
            "the search engine wants to be asked less often (429)",
        ),
        (
            "text/plain",
            401,
            "no",
            None,
            "the search engine wants a key, or another one (401): AGENTGLOT_SEARCH_KEY",
        ),
        (
            "text/plain",
            422,
            "no",
            Some("k"),
            "the search engine wants a key, or another one (422): AGENTGLOT_SEARCH_KEY",
        ),
        ("text/plain", 500, "no", None, "the search engine answered 500"),
        (
            "application/json",
            200,
            "{\"a\":1}",
            None,
            "the answer of the search engine cannot be understood: there are no results in it",
        ),
    ] {
        let (engine, _) = engine(kind, status, body, key).await;
        assert_eq!(search(&engine, asked("q")).await.unwrap_err().to_string(), why);
    }
    let (engine, _) = engine("application/json", 200, "{\"web\":", None).await;
    assert!(matches!(search(&engine, asked("q")).await, Err(SearchError::Answer(_))));
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let unreached = search(&at(nobody, None), asked("q")).await.unwrap_err();
    assert!(
        matches!(
            unreached,
            SearchError::Fetch {
                why: FetchError::Connection(_),
                ..
            }
        ),
        "{unreached}"
    );
}

#[test]
fn who_is_asked_is_chosen() {
    let brave = |name: &str| (name == "BRAVE_API_KEY").then(|| "b".to_owned());
    let none = |_: &str| None;
    assert_eq!(
        Engine::new(None, none).unwrap().ask("rust serde", 5).as_str(),
        "https://search.brave.com/search?q=rust+serde&source=web"
    );
    assert_eq!(
        Engine::new(None, brave).unwrap().ask("a", 50).as_str(),
        "https://api.search.brave.com/res/v1/web/search?q=a&count=20"
    );
    // The key of one engine is not shown to another.
    assert!(Engine::new(Some("http://localhost:8888/"), brave).unwrap().key.is_none());
    for wrong in ["", "localhost", "ftp://a/", "http://"] {
        assert!(Engine::new(Some(wrong), none).is_err(), "{wrong}");
    }
    assert!(is_related("https://brave.com/x", "search.brave.com") && !is_related("https://mybrave.com/", "search.brave.com"));
}
