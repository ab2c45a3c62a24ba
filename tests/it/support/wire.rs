//! What may stand between an agent and its model: proxies, and servers that speak TLS.

use std::sync::{Arc, Mutex};

use rcgen::{CertificateParams, DnType, KeyPair, date_time_ymd};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::{ServerConfig, version};

/// Stands before a server on this machine and hands on what is said. It lives as long as the process.
pub(crate) struct Wire {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

/// What it is.
#[derive(Clone)]
pub(crate) enum Kind {
    /// A proxy for HTTP, which says so instead of doing anything, if it says anything.
    Http(Option<&'static str>),
    /// A proxy that speaks SOCKS 5, with or without a name and a password.
    Socks(bool),
    /// The end of TLS.
    Tls(TlsAcceptor),
    /// Closes every connection when it has heard something.
    Closes,
}

impl Wire {
    /// Before the server of this port, whoever is asked for.
    pub(crate) fn new(kind: Kind, to: u16) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let all = seen.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(kind.clone(), stream, to, all.clone()));
                }
            });
        });
        Self { port, seen }
    }

    /// Whom it was asked for: of HTTP the head of the request, of SOCKS name and port, of TLS the server's name.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(kind: Kind, mut stream: TcpStream, to: u16, seen: Arc<Mutex<Vec<String>>>) -> Option<()> {
    let see = |what: String| seen.lock().unwrap().push(what);
    let _ = stream.set_nodelay(true);
    match kind {
        Kind::Http(refusal) => {
            let head = head(&mut stream).await?;
            see(head.clone());
            if let Some(refusal) = refusal {
                stream.write_all(refusal.as_bytes()).await.ok()?;
                return stream.shutdown().await.ok();
            }
            let mut words = head.split(' ');
            let (method, target) = (words.next()?, words.next()?);
            let mut there = TcpStream::connect(("127.0.0.1", to)).await.ok()?;
            if method == "CONNECT" {
                stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.ok()?;
            } else {
                // To a proxy the whole address is said, to a server its path.
                let path = target.split_once("://")?.1;
                let path = &path[path.find('/')?..];
                there.write_all(head.replacen(target, path, 1).as_bytes()).await.ok()?;
            }
            copy_bidirectional(&mut stream, &mut there).await.ok()?;
        }
        Kind::Socks(named) => {
            let count = stream.read_u16().await.ok()? & 0xff;
            let mut ways = vec![0; usize::from(count)];
            stream.read_exact(&mut ways).await.ok()?;
            let way = if named { 2 } else { 0 };
            if !ways.contains(&way) {
                return stream.write_all(&[5, 0xff]).await.ok();
            }
            stream.write_all(&[5, way]).await.ok()?;
            let mut who = String::new();
            if named {
                stream.read_u8().await.ok()?;
                who = format!("{}:{}@", text(&mut stream).await?, text(&mut stream).await?);
                stream.write_all(&[1, 0]).await.ok()?;
            }
            stream.read_exact(&mut [0; 3]).await.ok()?;
            let name = match stream.read_u8().await.ok()? {
                1 => std::net::Ipv4Addr::from(stream.read_u32().await.ok()?).to_string(),
                3 => text(&mut stream).await?,
                _ => return None,
            };
            see(format!("{who}{name}:{}", stream.read_u16().await.ok()?));
            stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.ok()?;
            let mut there = TcpStream::connect(("127.0.0.1", to)).await.ok()?;
            copy_bidirectional(&mut stream, &mut there).await.ok()?;
        }
        Kind::Tls(acceptor) => {
            let mut stream = acceptor.accept(stream).await.ok()?;
            see(stream.get_ref().1.server_name().unwrap_or_default().to_owned());
            let mut there = TcpStream::connect(("127.0.0.1", to)).await.ok()?;
            copy_bidirectional(&mut stream, &mut there).await.ok()?;
        }
        Kind::Closes => {
            let _ = stream.read(&mut [0; 64]).await;
            see(String::new());
        }
    }
    Some(())
}

/// A head of HTTP, with the empty line behind it.
async fn head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

/// A text behind its length.
async fn text(stream: &mut TcpStream) -> Option<String> {
    let mut text = vec![0; usize::from(stream.read_u8().await.ok()?)];
    stream.read_exact(&mut text).await.ok()?;
    String::from_utf8(text).ok()
}

/// A certificate that nobody but itself has signed: the end of TLS that shows it, and its PEM.
pub(crate) fn certificate(name: &str, years: (i32, i32)) -> (Kind, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = date_time_ymd(years.0, 1, 1);
    params.not_after = date_time_ymd(years.1, 1, 1);
    let certificate = params.self_signed(&key).unwrap();
    let private = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .unwrap();
    (Kind::Tls(TlsAcceptor::from(Arc::new(config))), certificate.pem())
}
