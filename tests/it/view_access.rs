//! Who gets anything from `agentglot view`, and what may be done with it.

use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};

use crate::common::{Scratch, arg, log};
use crate::view::View;

#[test]
fn only_who_knows_the_address_gets_anything() {
    let scratch = Scratch::new();
    scratch.file("logs/a.jsonl", log("s-1", "SECRET"));
    let view = View::new(&[arg(&scratch.path("logs"))], &scratch.path("cache"));
    let (port, token) = (view.port, view.token.clone());
    let id = view.id("a.jsonl");
    let host = format!("Host: 127.0.0.1:{port}");
    let page = format!("GET /{token}/session/{id}");
    let other = format!("{}0", &token[..31]);
    let other = if other == token { format!("{}1", &token[..31]) } else { other };
    assert!(view.say(&page, &[&host]).text().contains("SECRET"));
    assert_eq!(view.say(&page, &[&format!("Host: localhost:{port}")]).code, 200);
    let refused = [
        ("GET /".to_owned(), vec![host.clone()], 403),
        (format!("GET /session/{id}"), vec![host.clone()], 403),
        (format!("GET /{other}/"), vec![host.clone()], 403),
        (
            format!("GET /{}/", token.to_uppercase().replace(|c: char| c.is_ascii_digit(), "A")),
            vec![host.clone()],
            403,
        ),
        (
            format!("GET /{other}/session/{id}"),
            vec![host.clone(), format!("Cookie: token={token}")],
            403,
        ),
        (format!("GET /?token={token}"), vec![host.clone()], 403),
        (page.clone(), vec![], 400),
        (page.clone(), vec!["Host: evil.example".to_owned()], 403),
        (page.clone(), vec![format!("Host: evil.example:{port}")], 403),
        (page.clone(), vec!["Host: 127.0.0.1".to_owned()], 403),
        (page.clone(), vec![host.clone(), format!("Host: evil.example:{port}")], 403),
        (page.clone(), vec![host.clone(), "Origin: http://evil.example".to_owned()], 403),
        (page.clone(), vec![host.clone(), "Origin: null".to_owned()], 403),
        (page.clone(), vec![host.clone(), format!("Origin: http://127.0.0.1:{}", port ^ 1)], 403),
        (
            page.clone(),
            vec![
                host.clone(),
                "Sec-Fetch-Site: cross-site".to_owned(),
                "Sec-Fetch-Mode: no-cors".to_owned(),
            ],
            403,
        ),
        (format!("GET http://evil.example:{port}/{token}/session/{id}"), vec![host.clone()], 403),
    ];
    for (request, headers, code) in refused {
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        let answer = view.say(&request, &headers);
        // Without a name, HTTP itself may refuse.
        assert!(
            answer.code == code || code == 400 && answer.code == 403,
            "{request} {headers:?}: {}",
            answer.code
        );
        assert!(
            !answer.body.contains("SECRET") && !answer.body.contains(&token),
            "{request}: {}",
            answer.body
        );
        assert!(!answer.head.contains("access-control-"), "{}", answer.head);
    }
    for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"] {
        let answer = view.say(&format!("{method} /{token}/session/{id}"), &[&host]);
        assert_eq!(answer.code, 405, "{method}");
        assert!(answer.head.contains("allow: get, head"), "{}", answer.head);
    }
    let head = view.say(&format!("HEAD /{token}/session/{id}"), &[&host]);
    assert_eq!((head.code, head.body.as_str()), (200, ""));
}

#[test]
fn what_is_answered_may_not_be_used_elsewhere() {
    let scratch = Scratch::new();
    scratch.file("logs/a.jsonl", log("s-1", "SECRET"));
    let view = View::new(&[arg(&scratch.path("logs"))], &scratch.path("cache"));
    let id = view.id("a.jsonl");
    for path in ["", "list", &format!("session/{id}"), "asset/list.js", "nowhere"] {
        let answer = view.get(path);
        for header in [
            "referrer-policy: no-referrer",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "cache-control: no-store",
            "cross-origin-resource-policy: same-origin",
            "default-src 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(answer.head.contains(header), "{path}: {header}: {}", answer.head);
        }
        assert!(!answer.head.contains("access-control-") && !answer.head.contains("set-cookie") && !answer.head.contains("unsafe-"));
    }
    // It listens on one address of this machine, and on none that leads elsewhere.
    assert!(TcpStream::connect(("127.0.0.2", view.port)).is_err());
    assert!(TcpStream::connect(("::1", view.port)).is_err());
    let outer = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        // Nothing is sent: this only says which address would be used.
        socket.connect("192.0.2.1:9")?;
        socket.local_addr()
    });
    if let Ok(outer) = outer.map(|address| address.ip()).map_err(drop)
        && !outer.is_loopback()
    {
        assert!(TcpStream::connect((outer, view.port)).is_err(), "{outer}");
    }
}

#[test]
fn no_address_is_the_path_of_a_file() {
    let scratch = Scratch::new();
    scratch.file("logs/a.jsonl", log("s-1", "an answer"));
    scratch.file("secret.jsonl", log("s-2", "SECRET"));
    let view = View::new(&[arg(&scratch.path("logs"))], &scratch.path("cache"));
    view.list("");
    let outside = scratch.path("secret.jsonl");
    let escaped = arg(&outside).replace('/', "%2F");
    for path in [
        "session/..%2Fsecret.jsonl".to_owned(),
        "session/../../secret.jsonl".to_owned(),
        "session/%2e%2e/%2e%2e/secret.jsonl".to_owned(),
        "asset/..%2F..%2Fsecret.jsonl".to_owned(),
        "asset/..%2Flist.html".to_owned(),
        "asset/%00".to_owned(),
        format!("session/{escaped}"),
        format!("asset/{escaped}"),
        "session/a.jsonl".to_owned(),
        "session/-1".to_owned(),
        "session/99999999999999999999999".to_owned(),
        "session/7".to_owned(),
        "session/7/events/..".to_owned(),
        format!("../..{}", outside.display()),
    ] {
        let answer = view.get(&path);
        assert!((400..500).contains(&answer.code), "{path}: {}", answer.code);
        assert!(!answer.body.contains("SECRET"), "{path}: {}", answer.body);
    }
}

#[test]
fn a_signal_ends_it_in_good_order() {
    let scratch = Scratch::new();
    scratch.file("logs/a.jsonl", log("s-1", "an answer"));
    let view = View::new(&[arg(&scratch.path("logs"))], &scratch.path("cache"));
    view.list("");
    // Somebody still listens.
    let mut news = TcpStream::connect(("127.0.0.1", view.port)).unwrap();
    write!(news, "GET /{}/events HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", view.token, view.port).unwrap();
    let mut some = [0; 64];
    assert!(news.read(&mut some).unwrap() > 0);
    let port = view.port;
    assert_eq!(view.end().code(), Some(0));
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}
