use crate::json::{Out, Raw, Str};

/// A question on the control channel, in either direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request<'a> {
    /// The question's id; the answer names it. Each direction has ids of its own.
    pub id: Option<Str<'a>>,
    /// The `subtype` on the wire.
    pub subtype: Str<'a>,
    /// What is asked.
    pub kind: ControlKind,
    /// For [`ControlKind::CanUseTool`]: what is to be allowed.
    pub permission: Option<&'a Permission<'a>>,
}

impl Request<'_> {
    /// Writes its `subtype`: the word that hosts read for what is asked, where the source's protocol calls it by a name of its own.
    pub(crate) fn write_subtype(&self, out: &mut Out) {
        match self.kind.word().filter(|word| !self.subtype.is(word)) {
            Some(word) => {
                out.renamed(self.subtype.as_escaped(), "the word that hosts read for it");
                out.text(word);
            }
            None => out.str(self.subtype),
        }
    }
}

/// What a control request is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ControlKind {
    /// Agent: may this tool run?
    CanUseTool,
    /// Agent: run this hook.
    Hook,
    /// Either: a JSON-RPC message of an MCP server that lives in the host.
    Mcp,
    /// Agent: ask the user something (`elicitation`, `request_user_dialog`, the RFC's `confirm_*`, `quit_confirmation`).
    Confirm,
    /// Host: the handshake.
    Initialize,
    /// Host: stop the turn.
    Interrupt,
    /// Host: another model.
    SetModel,
    /// Host: another permission mode.
    SetMode,
    /// Anything else.
    #[default]
    Other,
}

impl ControlKind {
    /// What a `subtype` is about.
    pub fn read(subtype: Str<'_>) -> Self {
        match subtype.as_escaped() {
            "elicitation" | "request_user_dialog" | "confirm_shell_commands" | "confirm_action" | "quit_confirmation" => Self::Confirm,
            word => Self::WORDS
                .iter()
                .find(|(known, _)| *known == word)
                .map_or(Self::Other, |(_, kind)| *kind),
        }
    }

    /// The `subtype` of that, where there is one alone.
    fn word(self) -> Option<&'static str> {
        Self::WORDS.iter().find(|(_, kind)| *kind == self).map(|(word, _)| *word)
    }

    /// Each with the one `subtype` that it has.
    const WORDS: [(&'static str, Self); 7] = [
        ("can_use_tool", Self::CanUseTool),
        ("hook_callback", Self::Hook),
        ("mcp_message", Self::Mcp),
        ("initialize", Self::Initialize),
        ("interrupt", Self::Interrupt),
        ("set_model", Self::SetModel),
        ("set_permission_mode", Self::SetMode),
    ];
}

/// A tool call that waits for permission.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Permission<'a> {
    /// The tool's name.
    pub name: Str<'a>,
    /// The call's id.
    pub call: Option<Str<'a>>,
    /// The arguments.
    pub input: Option<Raw<'a>>,
    /// Rules that the user may accept together with the call, in the dialect's own form.
    pub suggestions: Option<Raw<'a>>,
}

/// An answer on the control channel, in either direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response<'a> {
    /// The id of the question.
    pub id: Option<Str<'a>>,
    /// Whether it is an answer (`success`) or a refusal to answer (`error`).
    pub ok: bool,
    /// The answer. Absent when a success has nothing to say.
    pub body: Option<Raw<'a>>,
    /// What went wrong: a text (Claude, Qwen Code) or `{message,retryable}` (RFC).
    pub error: Option<Raw<'a>>,
}

/// A question is taken back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Withdraw<'a> {
    /// The id of the question.
    pub id: Option<Str<'a>>,
}
