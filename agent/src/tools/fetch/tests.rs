use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// A server that answers by the path, and counts what it was asked.
async fn serve() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, address, Arc::clone(&asked)));
        }
    });
    (address, count)
}

async fn answer(mut stream: TcpStream, address: SocketAddr, asked: Arc<AtomicUsize>) {
    let mut head = Vec::new();
    while !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let mut chunk = [0; 1024];
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(read) => head.extend_from_slice(&chunk[..read]),
        }
    }
    asked.fetch_add(1, Ordering::Relaxed);
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let port = address.port();
    let sends = |to: String| format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let is = |kind: &str, body: &str| {
        format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    let said = match path.as_str() {
        "/" => is("text/html", "<h1>Hello</h1>"),
        "/host" => is(
            "text/plain",
            head.lines().find(|line| line.to_lowercase().starts_with("host:")).unwrap_or_default(),
        ),
        "/gone" => "HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\ncontent-length: 4\r\nconnection: close\r\n\r\ngone".to_owned(),
        "/picture" => is("image/png", "x"),
        "/here" => sends("/".to_owned()),
        "/metadata" => sends("http://169.254.169.254/latest/meta-data".to_owned()),
        "/loop" => sends("/loop".to_owned()),
        "/longest" => sends(format!("https://example.org/{}", "a".repeat(3000))),
        "/elsewhere" => sends("https://example.org/a".to_owned()),
        "/file" => sends("file:///etc/passwd".to_owned()),
        "/other-name" => sends(format!("http://other.test:{port}/")),
        "/huge" => {
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 1073741824\r\n\r\n")
                .await;
            let piece = vec![b'x'; 64 << 10];
            while stream.write_all(&piece).await.is_ok() {}
            return;
        }
        "/slow" => {
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 1000\r\n\r\n")
                .await;
            while stream.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            return;
        }
        "/cut" => "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 1000\r\nconnection: close\r\n\r\nx".to_owned(),
        _ => return,
    };
    let _ = stream.write_all(said.as_bytes()).await;
}

/// Names with the addresses that are said of them, one after the other; the last stays.
#[derive(Debug)]
struct Book(Mutex<Vec<(&'static str, Vec<SocketAddr>)>>);

#[async_trait]
impl Lookup for Book {
    async fn lookup(&self, host: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
        let mut book = self.0.lock().unwrap();
        let at = book
            .iter()
            .position(|(known, _)| *known == host)
            .ok_or_else(|| io::Error::other("no such name"))?;
        let again = book.iter().filter(|(known, _)| *known == host).count() > 1;
        Ok(if again { book.remove(at).1 } else { book[at].1.clone() })
    }
}

fn policy(hosts: &[&str], book: Vec<(&'static str, Vec<SocketAddr>)>) -> Policy {
    let mut policy = Policy::new(hosts.iter().map(|&host| host.to_owned()).collect());
    policy.lookup = Arc::new(Book(Mutex::new(book)));
    policy
}

fn text(fetched: Result<Fetched, FetchError>) -> String {
    match fetched.unwrap() {
        Fetched::Page(page) => page.text,
        elsewhere => panic!("{elsewhere:?}"),
    }
}

#[tokio::test]
async fn pages_are_text_whatever_their_status() {
    let (address, _) = serve().await;
    let policy = policy(&["127.0.0.1"], vec![]);
    let get = |path: &str| {
        let (url, policy) = (format!("http://{address}{path}"), policy.clone());
        async move { fetch(&url, &policy).await }
    };
    assert_eq!(text(get("/").await), "# Hello");
    assert_eq!(text(get("/here").await), "# Hello");
    let Fetched::Page(page) = get("/gone").await.unwrap() else { panic!() };
    assert_eq!(
        (page.status, page.reason.as_str(), page.text.as_str(), page.bytes),
        (404, "Not Found", "gone", 4)
    );
    assert_eq!(get("/picture").await, Err(FetchError::Binary("image/png".to_owned())));
    assert_eq!(get("/loop").await, Err(FetchError::Redirects));
    assert!(matches!(get("/cut").await, Err(FetchError::Connection(_))));
    assert!(matches!(get("/nothing").await, Err(FetchError::Connection(_))));
}

#[tokio::test]
async fn what_is_not_public_is_refused_before_anything_is_sent() {
    let (address, asked) = serve().await;
    let none = policy(&[], vec![]);
    let port = address.port();
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://127.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0x7f.0.0.1:{port}/"),
        format!("http://0.0.0.0:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        "http://169.254.169.254/latest".to_owned(),
        "http://10.0.0.1/".to_owned(),
    ] {
        assert!(matches!(fetch(&url, &none).await, Err(FetchError::Private { .. })), "{url}");
    }
    assert_eq!(
        fetch(&format!("http://127.0.0.1:{port}/"), &none).await.unwrap_err().to_string(),
        "Access to private IP addresses is forbidden: 127.0.0.1"
    );
    assert_eq!(
        fetch("ftp://x/y", &none).await.unwrap_err().to_string(),
        "Only HTTP/HTTPS protocols are supported, got: ftp"
    );
    assert!(matches!(fetch("file:///etc/passwd", &none).await, Err(FetchError::Scheme(_))));
    assert_eq!(fetch("http://a:b@example.org/", &none).await, Err(FetchError::Credentials));
    assert!(matches!(fetch("not a url", &none).await, Err(FetchError::Url(_))));
    assert!(matches!(
        fetch(&format!("http://a/{}", "x".repeat(3000)), &none).await,
        Err(FetchError::Url(_))
    ));
    // A name that leads inside, and one that leads inside with one of its addresses.
    let inside = policy(
        &[],
        vec![("in.test", vec![address]), ("half.test", vec!["1.1.1.1:80".parse().unwrap(), address])],
    );
    for host in ["in.test", "half.test"] {
        assert!(
            matches!(fetch(&format!("http://{host}:{port}/"), &inside).await, Err(FetchError::Private { .. })),
            "{host}"
        );
    }
    assert!(matches!(fetch("http://unknown.test/", &inside).await, Err(FetchError::Lookup { .. })));
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn the_address_that_was_checked_is_the_one_that_is_connected_to() {
    let (address, asked) = serve().await;
    // The name says our server once and another address from then on: what was checked is kept.
    let elsewhere: SocketAddr = "127.0.0.1:9".parse().unwrap();
    let rebinding = policy(&["again.test"], vec![("again.test", vec![address]), ("again.test", vec![elsewhere])]);
    let said = text(fetch(&format!("http://again.test:{}/host", address.port()), &rebinding).await);
    assert_eq!(said.to_lowercase(), format!("host: again.test:{}", address.port()));
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    // Each hop looks up and judges anew: a name that has turned inside since is refused.
    let (public, inside): (SocketAddr, SocketAddr) = ("1.1.1.1:80".parse().unwrap(), address);
    let book = Book(Mutex::new(vec![("turn.test", vec![public]), ("turn.test", vec![inside])]));
    assert_eq!(book.lookup("turn.test", 80).await.unwrap(), [public]);
    let mut second = policy(&[], vec![]);
    second.lookup = Arc::new(book);
    assert!(matches!(
        fetch(&format!("http://turn.test:{}/", address.port()), &second).await,
        Err(FetchError::Private { .. })
    ));
}

#[tokio::test]
async fn redirects_are_checked_anew_and_told_when_they_leave_the_host() {
    let (address, asked) = serve().await;
    let policy = policy(
        &["127.0.0.1", "*.test"],
        vec![
            ("other.test", vec![address]),
            ("www.one.test", vec![address]),
            ("one.test", vec![address]),
        ],
    );
    for (path, to) in [
        ("/metadata", "http://169.254.169.254/latest/meta-data".to_owned()),
        ("/elsewhere", "https://example.org/a".to_owned()),
        ("/file", "file:///etc/passwd".to_owned()),
        ("/other-name", format!("http://other.test:{}/", address.port())),
    ] {
        let from = format!("http://{address}{path}");
        assert_eq!(fetch(&from, &policy).await, Ok(Fetched::Elsewhere { from, to, status: 302 }));
    }
    assert_eq!(asked.load(Ordering::Relaxed), 4);
    assert!(matches!(
        fetch(&format!("http://{address}/longest"), &policy).await,
        Err(FetchError::Url(_))
    ));
    let same = |from: &str, to: &str| is_same(&Url::parse(from).unwrap(), &Url::parse(to).unwrap());
    assert!(same("http://a.b/x", "http://www.a.b/y") && same("http://a/", "https://a/"));
    assert!(!same("https://a/", "http://a/") && !same("http://a/", "http://a:81/") && !same("http://a/", "http://a.b/"));
}

#[tokio::test]
async fn huge_and_slow_pages_are_cut() {
    let (address, _) = serve().await;
    let mut policy = policy(&["127.0.0.1"], vec![]);
    policy.limits.bytes = 1 << 20;
    let Fetched::Page(page) = fetch(&format!("http://{address}/huge"), &policy).await.unwrap() else {
        panic!()
    };
    assert_eq!((page.cut, page.bytes, page.text.len()), (true, 1 << 20, 1 << 20));
    policy.limits.time = Duration::from_millis(200);
    let slow = fetch(&format!("http://{address}/slow"), &policy).await;
    assert_eq!(slow, Err(FetchError::TimedOut(Duration::from_millis(200))));
}

#[test]
fn hosts_are_allowed_by_name() {
    let policy = Policy::new(vec!["LocalHost".to_owned(), "*.company".to_owned()]);
    assert!(policy.names("localhost") && policy.names("wiki.company") && policy.names("a.b.COMPANY"));
    assert!(!policy.names("company") && !policy.names("evilcompany") && !policy.names("x.localhost"));
}
