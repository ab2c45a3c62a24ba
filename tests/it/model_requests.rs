//! Models behind HTTP: what they are asked, in the shape of each API.

use std::rc::Rc;

use agentglot::adapters::raw::event::{StopKind, ToolKind};
use agentglot::agent::model::message::{Call, CallResult, Message, Part, Role, Source};
use agentglot::agent::tools::Spec;
use agentglot::backend::model::{Api, Ask};
use serde_json::json;

use crate::support::asked::{asked, body, client, good, patience, said, user};
use crate::support::server::{Do, Server, stream, whole};

#[tokio::test]
async fn rule_15_parameters_that_a_server_refuses_are_sent_otherwise_and_it_is_remembered() {
    let refusal = r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens"}}"#;
    let server = Server::new(vec![
        whole("400 Bad Request", "application/json", "", refusal),
        whole(
            "422 Unprocessable Entity",
            "application/json",
            "",
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}"#,
        ),
        good(Api::Openai),
    ])
    .await;
    let client = client(Api::Openai, &server.url(), patience());
    let messages = [user("hi")];
    let ask = Ask {
        model: "odd",
        messages: &messages,
        max_tokens: Some(77),
        ..Ask::default()
    };
    for _ in 0..2 {
        assert_eq!(said(&client, &ask).await.result, Ok(()));
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 4);
    assert_eq!(seen[0].body["max_tokens"], 77);
    for later in &seen[2..] {
        assert_eq!(later.body["max_completion_tokens"], 77);
        assert!(later.body.get("max_tokens").is_none() && later.body.get("stream_options").is_none());
    }
    assert_eq!(body(Api::Openai, Ask { model: "gpt-5-mini", ..ask }).await["max_completion_tokens"], 77);
}

fn call(id: &str, input: &str) -> Part {
    Part::Call(Call {
        id: id.into(),
        name: "f".into(),
        input: input.into(),
        extra: None,
    })
}

fn result(id: &str, text: &str) -> Part {
    Part::Result(CallResult {
        call: id.into(),
        content: vec![Part::Text(text.into())],
        is_error: false,
    })
}

fn message(role: Role, parts: Vec<Part>) -> Rc<Message> {
    Rc::new(Message { role, parts })
}

fn thinking(api: &str, member: &str, signature: Option<&str>) -> Part {
    Part::Thinking {
        text: "hm".into(),
        signature: signature.map(Into::into),
        source: Source {
            api: api.into(),
            model: "m".into(),
            member: member.into(),
        },
    }
}

#[tokio::test]
async fn rule_15_results_come_first_in_one_message_and_each_call_has_one() {
    let messages = [
        user("go"),
        message(
            Role::Assistant,
            vec![Part::Text("ok".into()), call("a", "{\"x\":1}"), call("b", ""), call("c", "{\"x")],
        ),
        message(Role::User, vec![Part::Text("by the way".into()), result("b", "B")]),
        message(Role::User, vec![result("a", "A"), result("z", "Z"), Part::Text("  ".into())]),
    ];
    let ask = Ask {
        model: "m",
        messages: &messages,
        ..Ask::default()
    };
    let body_of = body(Api::Anthropic, ask).await;
    let list = body_of["messages"].as_array().unwrap();
    assert_eq!(list.len(), 3);
    assert_eq!(list[1]["content"][1]["input"], json!({"x": 1}));
    assert_eq!(list[1]["content"][2]["input"], json!({}));
    assert_eq!(list[1]["content"][3]["input"], json!({"invalid_json": "{\"x"}));
    let last = list[2]["content"].as_array().unwrap();
    let kinds: Vec<&str> = last.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_result", "tool_result", "tool_result", "text", "text"]);
    let ids: Vec<&str> = last[..3].iter().map(|block| block["tool_use_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!((&last[2]["is_error"], last[0].get("is_error")), (&json!(true), None));
    assert!(last[3]["text"].as_str().unwrap().ends_with('Z') && last[4]["text"] == "by the way");

    let body_of = body(Api::Openai, ask).await;
    let list = body_of["messages"].as_array().unwrap();
    let roles: Vec<&str> = list.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "tool", "user"]);
    assert_eq!(list[1]["tool_calls"][1]["function"]["arguments"], "{}");
    assert!(list[4]["content"].as_str().unwrap().starts_with("Error: ") && list[4]["tool_call_id"] == "c");

    // A conversation that ends with calls, and one that begins with the model.
    let open = [message(Role::Assistant, vec![call("a", "{}")])];
    let body_of = body(Api::Anthropic, Ask { messages: &open, ..ask }).await;
    let list = body_of["messages"].as_array().unwrap();
    assert_eq!(list[0]["role"], "user");
    assert_eq!(list[2]["content"][0]["is_error"], true);
}

#[tokio::test]
async fn rule_8_thoughts_go_back_to_anthropic_signed_or_not_at_all() {
    let messages = [
        user("go"),
        message(
            Role::Assistant,
            vec![
                thinking("anthropic", "", Some("c2ln+/==")),
                Part::Redacted { data: "b3Bh".into() },
                thinking("anthropic", "", None),
                thinking("anthropic", "", Some("")),
                thinking("openai", "reasoning_content", Some("forged")),
                call("toolu:1", "{}"),
            ],
        ),
        message(Role::User, vec![result("toolu:1", "A")]),
    ];
    let ask = Ask {
        model: "m",
        messages: &messages,
        thinking: Some(2000),
        temperature: Some(0.5),
        ..Ask::default()
    };
    let body_of = body(Api::Anthropic, ask).await;
    let content = body_of["messages"][1]["content"].as_array().unwrap();
    assert_eq!(content[0], json!({"type": "thinking", "thinking": "hm", "signature": "c2ln+/=="}));
    assert_eq!(content[1], json!({"type": "redacted_thinking", "data": "b3Bh"}));
    assert_eq!((content.len(), &content[2]["id"]), (3, &json!("toolu_1")));
    assert_eq!(body_of["messages"][2]["content"][0]["tool_use_id"], "toolu_1");
    assert_eq!(body_of["thinking"], json!({"type": "enabled", "budget_tokens": 2000}));
    assert!(body_of.get("temperature").is_none());
    // In the middle of its work a model cannot begin to think.
    let thoughtless = [
        user("go"),
        message(Role::Assistant, vec![call("a", "{}")]),
        message(Role::User, vec![result("a", "A")]),
    ];
    let body_of = body(
        Api::Anthropic,
        Ask {
            messages: &thoughtless,
            ..ask
        },
    )
    .await;
    assert!(body_of.get("thinking").is_none());
    assert_eq!(body_of["temperature"], 0.5);
}

#[tokio::test]
async fn rule_9_thoughts_go_back_under_the_name_they_came_by() {
    let earlier = message(
        Role::Assistant,
        vec![thinking("openai", "reasoning_content", None), Part::Text("first".into())],
    );
    let details = r#"[{"type":"reasoning.text","text":"hm","signature":"s"}]"#;
    let now = |member: &str| {
        message(
            Role::Assistant,
            vec![
                thinking("openai", member, Some(details)),
                thinking("anthropic", "", Some("s")),
                call("a", "{}"),
            ],
        )
    };
    let ask = |messages: &'static [Rc<Message>]| Ask {
        model: "m",
        messages,
        ..Ask::default()
    };
    for (member, wanted) in [
        ("reasoning_content", json!("hm")),
        ("reasoning", json!("hm")),
        ("reasoning_details", serde_json::from_str(details).unwrap()),
    ] {
        let messages = vec![
            user("1"),
            earlier.clone(),
            user("2"),
            now(member),
            message(Role::User, vec![result("a", "A")]),
        ];
        let messages: &'static [Rc<Message>] = messages.leak();
        let body_of = body(Api::Openai, ask(messages)).await;
        let list = body_of["messages"].as_array().unwrap();
        assert_eq!(list[3][member], wanted, "{member}");
        assert!(list[1].get("reasoning_content").is_none(), "of an earlier task");
        // Another model never saw them.
        let body_of = body(Api::Openai, Ask { model: "n", ..ask(messages) }).await;
        assert!(body_of["messages"][3].get(member).is_none());
    }
    let messages: &'static [Rc<Message>] = vec![
        user("1"),
        message(Role::Assistant, vec![thinking("openai", "content", None), Part::Text("4".into())]),
        user("2"),
    ]
    .leak();
    let body_of = body(Api::Openai, ask(messages)).await;
    assert_eq!(
        body_of["messages"][1]["content"],
        json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "4"}])
    );
}

#[tokio::test]
async fn what_a_call_carries_for_its_vendor_goes_back() {
    let chunk = r#"{"id":"r","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","extra_content":{"google":{"thought_signature":"s"}},"function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;
    let (said, _) = asked(Api::Openai, vec![vec![Do::Send(stream(&[chunk, "[DONE]"]))]]).await;
    let reply = said.gather.message();
    assert_eq!(said.gather.stop(), Some((StopKind::Tools, "tool_calls")));
    let messages = [user("go"), Rc::new(reply), message(Role::User, vec![result("a", "A")])];
    let body_of = body(
        Api::Openai,
        Ask {
            model: "m",
            messages: &messages,
            ..Ask::default()
        },
    )
    .await;
    assert_eq!(
        body_of["messages"][1]["tool_calls"][0]["extra_content"],
        json!({"google": {"thought_signature": "s"}})
    );
}

#[tokio::test]
async fn tools_pictures_and_prompts_are_written_as_each_api_wants_them() {
    let spec = Spec {
        name: "f".into(),
        description: "does f".into(),
        schema: json!({"type": "object", "properties": {}}),
        kind: ToolKind::Other,
        reads_only: false,
        owner: None,
    };
    let picture = || Part::Image {
        media_type: "image/png".into(),
        data: "aaaa".into(),
    };
    let document = Part::Document {
        media_type: "application/pdf".into(),
        data: "bbbb".into(),
    };
    let shown = Part::Result(CallResult {
        call: "a".into(),
        content: vec![picture()],
        is_error: false,
    });
    let messages = [
        message(Role::User, vec![Part::Text("look".into()), picture(), document]),
        message(Role::Assistant, vec![call("a", "{}")]),
        message(Role::User, vec![shown]),
    ];
    let tools = [Rc::new(spec)];
    let ask = Ask {
        model: "m",
        system: "be brief",
        messages: &messages,
        tools: &tools,
        must_call: Some("f"),
        top_p: Some(0.5),
        ..Ask::default()
    };
    let anthropic = body(Api::Anthropic, ask).await;
    let cached = json!({"type": "ephemeral"});
    assert_eq!(
        anthropic["system"],
        json!([{"type": "text", "text": "be brief", "cache_control": cached}])
    );
    assert_eq!(
        anthropic["tools"],
        json!([{"name": "f", "description": "does f", "input_schema": {"type": "object", "properties": {}}, "cache_control": cached}])
    );
    assert_eq!(anthropic["tool_choice"], json!({"type": "tool", "name": "f"}));
    assert_eq!(
        anthropic["messages"][0]["content"][1],
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}})
    );
    assert_eq!(anthropic["messages"][0]["content"][2]["type"], "document");
    assert_eq!(anthropic["messages"][2]["content"][0]["content"][0]["type"], "image");
    let openai = body(Api::Openai, ask).await;
    assert_eq!(openai["messages"][0], json!({"role": "system", "content": "be brief"}));
    assert_eq!(
        openai["messages"][1]["content"][1],
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,aaaa"}})
    );
    assert_eq!(
        openai["messages"][1]["content"][2]["file"]["file_data"],
        "data:application/pdf;base64,bbbb"
    );
    assert_eq!(openai["messages"][3]["role"], "tool");
    assert_eq!(
        openai["messages"][4]["content"][1]["type"], "image_url",
        "a tool's message holds text alone"
    );
    assert_eq!(openai["tools"][0]["function"]["name"], "f");
    assert_eq!(openai["tool_choice"], json!({"type": "function", "function": {"name": "f"}}));
    assert_eq!(openai["top_p"], 0.5);
}
