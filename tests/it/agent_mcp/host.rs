//! Servers that live in the host, and what the host may ask about servers.

use super::*;

#[test]
fn the_host_sets_switches_and_asks_for_servers() {
    within(90, async {
        let place = Place::new();
        let mcp = place.started().await;
        let control = async |subtype: &str, request: Value| mcp.control(subtype, &request).await.expect("it is about servers");
        let set = control(
            "mcp_set_servers",
            json!({"servers":{"two":place.bad(&[]),"three":{"command":"/nonexistent/x"}}}),
        )
        .await
        .expect("it is set");
        assert_eq!((&set["added"], &set["removed"]), (&json!(["two", "three"]), &json!([])));
        assert!(set["errors"]["three"].as_str().is_some_and(|why| why.contains("/nonexistent/x")), "{set}");
        assert!(names(&mcp).contains(&"mcp__two__echo".to_owned()));
        let set = control("mcp_set_servers", json!({"servers":{"two":place.bad(&[])}}))
            .await
            .expect("it is set");
        assert_eq!(set, json!({"added":[],"removed":["three"],"errors":{}}));

        let told = control("mcp_status", json!({})).await.expect("it is told");
        let servers = told["mcpServers"].as_array().expect("a list");
        assert_eq!(
            (&servers[0]["name"], &servers[0]["status"], &servers[0]["serverInfo"]),
            (&json!("bad"), &json!("connected"), &json!({"name":"bad","version":"1.2"}))
        );
        assert_eq!(
            servers[0]["tools"][0],
            json!({"name":"echo","description":"Does echo","annotations":{"readOnly":true}})
        );
        assert!(servers[0]["config"].get("env").is_none());
        assert_eq!(
            control("mcp_server_status", json!({})).await.expect("it is told")["status"],
            json!({"bad":"connected","two":"connected"})
        );

        control("mcp_toggle", json!({"serverName":"two","enabled":false}))
            .await
            .expect("it is off");
        assert_eq!(mcp.status()[1].status, Status::Disabled);
        assert!(!names(&mcp).contains(&"mcp__two__echo".to_owned()));
        control("mcp_toggle", json!({"serverName":"two","enabled":true})).await.expect("it is on");
        assert!(names(&mcp).contains(&"mcp__two__echo".to_owned()));
        control("mcp_reconnect", json!({"serverName":"bad"})).await.expect("it is there");
        assert_eq!(
            control("mcp_toggle", json!({"serverName":"x","enabled":false})).await,
            Err("Server not found: x".to_owned())
        );
        assert_eq!(
            control("mcp_call", json!({"tool":"mcp__x__y"})).await,
            Err("MCP server not connected: x".to_owned())
        );
        let called = control("mcp_call", json!({"tool":"mcp__bad__echo","arguments":{"text":"hi"}}))
            .await
            .expect("it is called");
        assert_eq!(called["content"], json!([{"type":"text","text":"hi"}]));
        let resource = control("mcp_read_resource", json!({"serverName":"bad","uri":"mem:a"}))
            .await
            .expect("it is read");
        assert_eq!(resource["contents"][0]["text"], "kept");
        assert!(control("mcp_read_resource", json!({"server":"bad"})).await.is_err());
        assert_eq!(
            mcp.provenance("mcp__two__echo").map(|whose| (whose.server, whose.source)),
            Some(("two".to_owned(), "dynamic".to_owned()))
        );
        assert!(mcp.control("set_model", &json!({})).await.is_none());
        mcp.stop().await;
    });
}

/// A host with a server of its own. It answers until there is nothing more to do, and keeps what it heard.
async fn host(requests: &HostRequests, heard: &RefCell<Vec<Value>>) {
    loop {
        requests.wake().notified().await;
        let (asked, withdrawn) = requests.take();
        for id in withdrawn {
            heard.borrow_mut().push(json!({ "withdrawn": id }));
        }
        for (id, question) in asked {
            assert_eq!(question.subtype, "mcp_message");
            assert_eq!(question.fields[0], ("server_name".to_owned(), json!("calc")));
            let message = question.fields[1].1.clone();
            heard.borrow_mut().push(message.clone());
            let result = match message["method"].as_str() {
                Some("initialize") => {
                    json!({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"calc","version":"1.0.0"}})
                }
                Some("tools/list") => {
                    json!({"tools":[{"name":"add","description":"adds","inputSchema":{"type":"object"},"execution":{"taskSupport":"forbidden"}}]})
                }
                Some("tools/call") if message["params"]["arguments"]["a"] == json!(0) => continue,
                Some("tools/call") => json!({"content":[{"type":"text","text":"42"}],"is_error":message["params"]["arguments"]["a"] == json!(1)}),
                // Both SDKs answer notifications with something that has another's id.
                _ => {
                    requests.answer(&id, Ok(json!({"mcp_response":{"jsonrpc":"2.0","result":{},"id":0}})));
                    continue;
                }
            };
            requests.answer(&id, Ok(json!({"mcp_response":{"jsonrpc":"2.0","id":message["id"],"result":result}})));
        }
    }
}

/// Runs what is given beside the host.
async fn beside<T>(place: &Place, heard: &RefCell<Vec<Value>>, what: impl Future<Output = T>) -> T {
    tokio::select! {
        done = what => done,
        () = host(&place.requests, heard) => unreachable!("it answers for ever"),
    }
}

#[test]
fn servers_in_the_host_are_spoken_to_over_the_control_channel() {
    within(60, async {
        let (place, heard) = (Place::new(), RefCell::default());
        let mut options = place.options();
        options.naming.call_meta = Some("claudecode/toolUseId");
        let mcp = place.start(json!({}), options).await;
        mcp.initialize(&json!({"subtype":"initialize","sdkMcpServers":["calc"]}))
            .expect("a handshake");
        assert_eq!(mcp.status()[0].status, Status::Pending);
        beside(&place, &heard, mcp.ready()).await;
        assert_eq!((mcp.status()[0].status, mcp.status()[0].source.as_str()), (Status::Connected, "sdk"));
        assert_eq!(names(&mcp), ["mcp__calc__add"]);
        let given = beside(&place, &heard, place.call(&mcp, "mcp__calc__add", json!({"a":2,"b":40}))).await;
        assert_eq!((given.status, text(&given).as_str()), (ResultStatus::Success, "42"));
        assert_eq!(
            beside(&place, &heard, place.call(&mcp, "mcp__calc__add", json!({"a":1}))).await.status,
            ResultStatus::Error
        );
        let methods = || {
            heard
                .borrow()
                .iter()
                .map(|message| (message["method"].clone(), message["id"].clone()))
                .collect::<Vec<_>>()
        };
        // Which call of the model's it is stands beside the arguments.
        let first = heard.borrow().iter().find(|message| message["method"] == "tools/call").cloned();
        assert!(first.unwrap()["params"]["_meta"]["claudecode/toolUseId"].is_string());
        assert_eq!(
            methods(),
            [
                (json!("initialize"), json!(0)),
                (json!("notifications/initialized"), Value::Null),
                (json!("tools/list"), json!(1)),
                (json!("tools/call"), json!(2)),
                (json!("tools/call"), json!(3)),
            ]
        );

        // A call that is interrupted is taken back, and the server is told.
        let cancel = CancellationToken::new();
        let stop = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            cancel.cancel();
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        let call = async {
            tokio::join!(place.call_until(&mcp, "mcp__calc__add", json!({"a":0}), cancel.clone()), stop)
                .0
                .0
        };
        assert_eq!(beside(&place, &heard, call).await.status, ResultStatus::Error);
        let last: Vec<Value> = heard.borrow().iter().rev().take(2).cloned().collect();
        assert!(last.iter().any(|message| message.get("withdrawn").is_some()), "{last:?}");
        assert!(
            last.iter()
                .any(|message| message["method"] == "notifications/cancelled" && message["params"]["requestId"] == json!(4)),
            "{last:?}"
        );

        // What the server says of its own accord.
        let say = async |message: Value| {
            beside(&place, &heard, async {
                mcp.from_host("calc", &message).await;
                mcp.refresh().await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            })
            .await;
            heard.borrow().last().cloned().expect("something was heard")
        };
        assert_eq!(
            say(json!({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})).await["method"],
            "tools/list"
        );
        assert_eq!(
            say(json!({"jsonrpc":"2.0","id":"p","method":"ping"})).await,
            json!({"jsonrpc":"2.0","id":"p","result":{}})
        );
        assert_eq!(
            say(json!({"jsonrpc":"2.0","id":7,"method":"sampling/createMessage"})).await["error"]["code"],
            json!(-32601)
        );
        assert_eq!(
            say(json!({"jsonrpc":"2.0","id":8,"method":"elicitation/create","params":{}})).await["result"],
            json!({"action":"decline"})
        );
        mcp.from_host("nobody", &json!({"id":1,"method":"ping"})).await;
        place.requests.hang_up();
    });
}

#[test]
fn servers_that_the_host_has_described_are_not_asked_again() {
    within(60, async {
        let (place, heard) = (Place::new(), RefCell::default());
        let mcp = place.start(
            json!({ "calc": { "type": "sdk", "name": "calc" } }),
            Options {
                connect: Duration::from_secs(5),
                ..place.options()
            },
        );
        // Python names its servers in the flag as well.
        let mcp = beside(&place, &heard, mcp).await;
        mcp.initialize(&json!({"sdkMcpServers":["calc"]})).expect("a handshake");
        assert_eq!(mcp.status().len(), 1);
        heard.borrow_mut().clear();

        let mcp = place.start(json!({}), place.options()).await;
        let manifest = json!({"initializeResult":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"calc","version":"1"}},
            "toolsListResult":{"tools":[{"name":"add","inputSchema":{"type":"object"}}]}});
        mcp.initialize(&json!({"sdkMcpServers":["calc"],"sdkMcpServerManifests":{"calc":manifest}}))
            .expect("a handshake");
        beside(&place, &heard, mcp.ready()).await;
        assert!(heard.borrow().is_empty());
        let given = beside(&place, &heard, place.call(&mcp, "mcp__calc__add", json!({"a":2}))).await;
        assert_eq!(text(&given), "42");
        assert_eq!(heard.borrow()[0]["id"], json!(2), "the host has counted two requests itself");
    });
}

#[test]
fn a_host_that_does_not_answer_makes_a_failed_server() {
    within(60, async {
        let place = Place::new();
        let mut options = place.options();
        options.connect = Duration::from_millis(200);
        let mcp = place.start(json!({ "calc": { "type": "sdk", "name": "calc" } }), options).await;
        assert_eq!(mcp.status()[0].status, Status::Failed);
    });
}
