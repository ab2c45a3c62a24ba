//! Tricode's lines.

use crate::common::json::quoted;
use crate::common::story::Story;

/// The story's arguments are told as they are, so their spelling is not Python's.
pub fn tricode(story: &Story) -> String {
    let mut log = String::new();
    for turn in &story.turns {
        log += &format!("{{\"type\": \"system\", \"message\": \"Session ID: {}\"}}\n", &story.session[..8]);
        for (number, round) in turn.rounds.iter().enumerate() {
            log += &format!("{{\"type\": \"round\", \"number\": {}}}\n", number + 1);
            for call in &round.calls {
                let name = quoted(&call.name);
                log += &format!(
                    "{{\"type\": \"tool_call\", \"name\": {name}, \"arguments\": {}, \"formatted\": \"{}(...)\"}}\n",
                    call.input,
                    call.name.to_uppercase()
                );
                let result = quoted(&call.result);
                log += &format!(
                    "{{\"type\": \"tool_result\", \"name\": {name}, \"success\": {}, \"result\": {result}, \"formatted\": {result}}}\n",
                    call.ok
                );
            }
            if round.calls.is_empty() {
                log += &match (turn.ok, &round.text) {
                    (true, Some(text)) => format!("{{\"type\": \"final\", \"content\": {}}}\n", quoted(text)),
                    _ => "OpenAI API error: Error code: 401 - Incorrect API key provided\n".to_owned(),
                };
            }
        }
    }
    log
}
