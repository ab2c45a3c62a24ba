//! What a run did with its tools: the members `tools` of `stats` in `json`.

use crate::event::{ResultStatus, ToolCall, ToolResult};
use crate::json::Out;
use crate::trace::Kept;

/// The calls of a run.
#[derive(Debug, Default)]
pub(super) struct ToolStats {
    /// By their tools, in the order in which these were called first; names are escaped.
    tools: Vec<Tool>,
    /// The calls that have no result yet: their ids, and their tools' places.
    open: Vec<(String, usize)>,
    /// Where the source says the names of tools: those that stay, and those that are others here.
    names: Kept,
    renamed: Kept,
}

/// Where the source says the names of tools that a document says.
#[derive(Debug, Default)]
pub(super) struct Names {
    own: Kept,
    renamed: Kept,
}

impl Names {
    /// They are not said after all.
    pub(super) fn lose(&mut self, note: &'static str, out: &Out) {
        out.drop_held(&mut self.own, note);
        out.drop_held(&mut self.renamed, note);
    }

    /// No other turn takes the place of what says them.
    pub(super) fn end(&mut self, out: &Out) {
        out.rename_held(&mut self.renamed, "the target's own tool name");
    }

    /// Those that stand there as they are; what another session says may take their place.
    pub(super) fn stays(&mut self) -> Kept {
        std::mem::take(&mut self.own)
    }
}

#[derive(Debug, Default)]
struct Tool {
    name: String,
    calls: u64,
    fine: u64,
    failed: u64,
    denied: u64,
}

impl ToolStats {
    pub(super) fn called(&mut self, call: &ToolCall<'_>) {
        let name = call.name.as_escaped();
        let at = self.tools.iter().position(|tool| tool.name == name).unwrap_or_else(|| {
            self.tools.push(Tool {
                name: name.to_owned(),
                ..Tool::default()
            });
            self.tools.len() - 1
        });
        self.tools[at].calls += 1;
        self.open.push((call.id.as_escaped().to_owned(), at));
    }

    pub(super) fn answered(&mut self, result: &ToolResult<'_>) {
        let Some(place) = self.open.iter().position(|(id, _)| *id == result.call.as_escaped()) else {
            return;
        };
        let (_, at) = self.open.swap_remove(place);
        let tool = &mut self.tools[at];
        match result.status {
            ResultStatus::Success => tool.fine += 1,
            ResultStatus::Denied => {
                tool.failed += 1;
                tool.denied += 1;
            }
            ResultStatus::Error | ResultStatus::Canceled => tool.failed += 1,
        }
    }

    /// What a call's tool is called may be written when the run is over.
    pub(super) fn names(&mut self, call: &ToolCall<'_>, out: &Out) {
        let kept = if out.holds(call.name.as_escaped()) {
            &mut self.names
        } else {
            &mut self.renamed
        };
        out.hold_unsaid(kept, call.name.as_escaped());
    }

    /// What they are called is `written`, or not. Returns what stays as long as it is.
    pub(super) fn named(&mut self, written: bool, out: &Out) -> Names {
        let mut names = Names {
            own: std::mem::take(&mut self.names),
            renamed: std::mem::take(&mut self.renamed),
        };
        if !written {
            names.lose("no place in gemini: without tokens nothing is counted", out);
        }
        names
    }

    /// How many calls there were.
    pub(super) fn calls(&self) -> u64 {
        self.tools.iter().map(|tool| tool.calls).sum()
    }

    /// Writes the members.
    pub(super) fn write(&self, out: &mut Out) {
        let mut all = Tool::default();
        for tool in &self.tools {
            all.calls += tool.calls;
            all.fine += tool.fine;
            all.failed += tool.failed;
            all.denied += tool.denied;
        }
        all.write(["totalCalls", "totalSuccess", "totalFail", "totalDurationMs", "totalDecisions"], out);
        out.invented("/stats/tools/totalDurationMs", "the source does not say how long calls took");
        out.lit(",\"byName\":{");
        for (number, tool) in self.tools.iter().enumerate() {
            out.lit(if number == 0 { "\"" } else { ",\"" });
            out.lit(&tool.name);
            out.lit("\":{");
            tool.write(["count", "success", "fail", "durationMs", "decisions"], out);
            out.lit("}");
        }
        out.lit("}");
    }
}

impl Tool {
    /// Nobody was asked: what ran was accepted by itself or by a rule.
    fn write(&self, [calls, fine, failed, took, decisions]: [&str; 5], out: &mut Out) {
        for (comma, name, number) in [
            ("", calls, self.calls),
            (",", fine, self.fine),
            (",", failed, self.failed),
            (",", took, 0),
        ] {
            out.lit(comma);
            out.lit("\"");
            out.lit(name);
            out.lit("\":");
            out.number(number);
        }
        out.lit(",\"");
        out.lit(decisions);
        out.lit("\":{\"accept\":");
        out.number(self.calls - self.denied);
        out.lit(",\"reject\":");
        out.number(self.denied);
        out.lit(",\"modify\":0,\"auto_accept\":0}");
    }
}
