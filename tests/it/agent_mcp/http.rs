//! Servers behind HTTP.

use super::*;

/// A server behind HTTP, as small as one can be: JSON answers to POSTs, and a body without end where it is asked for.
async fn serve_http(listener: tokio::net::TcpListener, token: &'static str) {
    loop {
        let Ok((mut stream, _)) = listener.accept().await else { return };
        tokio::spawn(async move {
            let mut held = Vec::new();
            loop {
                let mut chunk = [0; 4096];
                let (head, body) = loop {
                    if let Some(at) = held.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                        let head = String::from_utf8_lossy(&held[..at]).to_lowercase();
                        let length = head
                            .lines()
                            .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())
                            .unwrap_or(0_usize);
                        if held.len() >= at + 4 + length {
                            let body = held[at + 4..at + 4 + length].to_vec();
                            held.drain(..at + 4 + length);
                            break (head, body);
                        }
                    }
                    match stream.read(&mut chunk).await {
                        Ok(0) | Err(_) => return,
                        Ok(read) => held.extend_from_slice(&chunk[..read]),
                    }
                };
                let reply = |status: &str, body: String| {
                    format!(
                        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nwww-authenticate: Bearer\r\ncontent-length: {}\r\n\r\n{body}",
                        body.len()
                    )
                };
                let message: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
                let id = &message["id"];
                let result = match message["method"].as_str() {
                    _ if !head.contains(&format!("authorization: bearer {token}")) => {
                        let _ = stream.write_all(reply("401 Unauthorized", String::new()).as_bytes()).await;
                        continue;
                    }
                    Some("initialize") => {
                        json!({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"far","version":"1"}})
                    }
                    Some("tools/list") => {
                        json!({"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"flood","inputSchema":{"type":"object"}},{"name":"html","inputSchema":{"type":"object"}}]})
                    }
                    Some("tools/call") if message["params"]["name"] == "flood" => {
                        let _ = stream
                            .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ")
                            .await;
                        let piece = vec![b'x'; 64 << 10];
                        while stream.write_all(&piece).await.is_ok() {}
                        return;
                    }
                    Some("tools/call") if message["params"]["name"] == "html" => {
                        let page = "<h1>Bad gateway</h1>";
                        let answer = format!(
                            "HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n{page}",
                            page.len()
                        );
                        let _ = stream.write_all(answer.as_bytes()).await;
                        continue;
                    }
                    Some("tools/call") => json!({"content":[{"type":"text","text":message["params"]["arguments"]["text"]}]}),
                    Some(_) if id.is_null() => {
                        let _ = stream.write_all(reply("202 Accepted", String::new()).as_bytes()).await;
                        continue;
                    }
                    _ => {
                        let _ = stream.write_all(reply("405 Method Not Allowed", String::new()).as_bytes()).await;
                        continue;
                    }
                };
                let body = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
                let _ = stream.write_all(reply("200 OK", body).as_bytes()).await;
            }
        });
    }
}

#[test]
fn servers_behind_http_are_spoken_to() {
    within(90, async {
        let place = Place::new();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("it has one"));
        tokio::spawn(serve_http(listener, "right"));
        let servers = json!({
            "far": { "type": "http", "url": url, "headers": { "Authorization": "Bearer right" } },
            "shut": { "type": "http", "url": url, "headers": { "Authorization": "Bearer wrong" } },
        });
        let mcp = place.start(servers, place.options()).await;
        let status: Vec<Status> = mcp.status().iter().map(|known| known.status).collect();
        assert_eq!(status, [Status::Connected, Status::NeedsAuth], "{:?}", mcp.status());
        assert_eq!(text(&place.call(&mcp, "mcp__far__echo", json!({"text":"hi"})).await), "hi");
        let page = place.call(&mcp, "mcp__far__html", json!({})).await;
        assert!(page.status == ResultStatus::Error && !text(&page).contains("Bearer"), "{}", text(&page));
        let began = memory();
        let flooded = place.call(&mcp, "mcp__far__flood", json!({})).await;
        assert_eq!(flooded.status, ResultStatus::Error, "{}", text(&flooded));
        assert!(memory().saturating_sub(began) < 200 << 20);
        assert_eq!(text(&place.call(&mcp, "mcp__far__echo", json!({"text":"on"})).await), "on");
        mcp.stop().await;
    });
}
