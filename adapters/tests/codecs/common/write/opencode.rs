//! OpenCode's lines.

use crate::common::json::quoted;
use crate::common::story::Story;

/// OpenCode's `run --format json`: whole parts, each call with its result.
pub fn opencode(story: &Story) -> String {
    let mut log = String::new();
    let mut count = 0;
    let mut line = |kind: &str, round: &str, part: &str| {
        count += 1;
        let places = format!("\"id\":\"prt_{count}\",\"messageID\":\"{round}\",\"sessionID\":\"{}\"", story.session);
        let head = format!(
            "\"type\":\"{kind}\",\"timestamp\":{},\"sessionID\":\"{}\"",
            1_795_244_716_000_u64 + count,
            story.session
        );
        format!("{{{head},\"part\":{{{places},{part}}}}}\n")
    };
    for turn in &story.turns {
        for (number, round) in turn.rounds.iter().enumerate() {
            log += &line("step_start", &round.id, "\"type\":\"step-start\"");
            for (kind, text) in [("reasoning", &round.thought), ("text", &round.text)] {
                if let Some(text) = text {
                    let part = format!("\"type\":\"{kind}\",\"text\":{},\"time\":{{\"start\":1,\"end\":2}}", quoted(text));
                    log += &line(kind, &round.id, &part);
                }
            }
            for call in &round.calls {
                let (status, said) = if call.ok { ("completed", "output") } else { ("error", "error") };
                let state = format!("\"status\":\"{status}\",\"input\":{},\"{said}\":{}", call.input, quoted(&call.result));
                let part = format!(
                    "\"type\":\"tool\",\"tool\":\"{}\",\"callID\":\"{}\",\"state\":{{{state},\"time\":{{\"start\":1,\"end\":2}}}}",
                    call.name, call.id
                );
                log += &line("tool_use", &round.id, &part);
            }
            let last = number + 1 == turn.rounds.len();
            if last && !turn.ok {
                continue;
            }
            let reason = if last { "stop" } else { "tool-calls" };
            let tokens = "\"tokens\":{\"total\":16,\"input\":7,\"output\":9,\"reasoning\":0,\"cache\":{\"write\":0,\"read\":0}},\"cost\":0.5";
            log += &line(
                "step_finish",
                &round.id,
                &format!("\"reason\":\"{reason}\",\"type\":\"step-finish\",{tokens}"),
            );
        }
        if !turn.ok {
            let error = "\"error\":{\"name\":\"APIError\",\"data\":{\"message\":\"terminated\"}}";
            log += &format!(
                "{{\"type\":\"error\",\"timestamp\":1795244717000,\"sessionID\":\"{}\",{error}}}\n",
                story.session
            );
        }
    }
    log
}
