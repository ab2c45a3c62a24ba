//! The command line of `qwen` as the RFC describes it: `--input-format` and `--output-format` with the value
//! `stream-chunk-json` too, any of one with any of the other; the other flags are those that ship.
//! How a program of the RFC behaves towards its host: docs/qwen.md.

use crate::codec::Dialect;
use crate::conduct::{Answer, Conduct, Damage, Ended, Facts, Misread, refused_request};
use crate::event::{Fields, Request};
use crate::json::Raw;
use crate::launch::{Claim, Flag, Grammar, PermissionMode, Program, PromptBy, Traits, flags, shared_flags};

pub(crate) static PROGRAM: Program = Program {
    dialect: Dialect::Qwen,
    name: "qwen",
    product: "Qwen Code",
    version: "0.24.4",
    grammar: Grammar::Yargs,
    flags: &FLAGS,
    commands: shared_flags::COMMANDS,
    closed: false,
    check: |launch, given| shared_flags::check(&PROGRAM, false, launch, given),
    child: &["--input-format=stream-json", "--output-format=stream-chunk-json"],
    prompt: PromptBy::Lines,
    permission: PermissionMode::Auto,
    no_prompt: shared_flags::no_prompt,
    no_session: shared_flags::no_session,
    no_key: None,
    links: &["qwen-rfc"],
    claims: Some(Claim {
        link: "qwen",
        output: "stream-chunk-json",
        variable: ("AGENTGLOT_QWEN", "rfc"),
    }),
    backend: &[],
    file: "qwen",
    environment: shared_flags::ENVIRONMENT,
    log_in: shared_flags::LOG_IN,
    api: "openai",
    patience: Some(60),
    traits: Traits {
        always_in_pieces: true,
        ..shared_flags::TRAITS
    },
    conduct: &Rfc,
};

/// What the RFC adds.
const MORE: [Flag; 3] = flags! {
    "--control-timeout": Value("") => Rest, "how long the host may take to answer a control request, in seconds; 60 without it";
    "--heartbeat": Value("") => Rest, "a heartbeat every so many seconds, unasked";
    "--log-annotations": Switch => Rest, "the program's own log goes into the stream";
};

const FLAGS: [Flag; shared_flags::COUNT + MORE.len()] = {
    let shipped = shared_flags::flags(
        &["text", "stream-json", "stream-chunk-json"],
        &["text", "stream-json", "stream-chunk-json"],
    );
    let mut all = [MORE[0]; shared_flags::COUNT + MORE.len()];
    let mut n = 0;
    while n < all.len() {
        all[n] = if n < shipped.len() { shipped[n] } else { MORE[n - shipped.len()] };
        n += 1;
    }
    all
};

/// So many characters of a line that makes no sense are said again.
const SHOWN: usize = 80;

/// The program itself.
#[derive(Clone, Copy, Debug)]
struct Rfc;

impl Conduct for Rfc {
    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn refusal(&self, line: Raw<'_>, why: &str) -> Option<String> {
        refused_request(line, why)
    }

    /// The RFC's hosts ask nothing over the control channel: they cancel, ask for hints and for signs of life.
    fn answer(&self, request: &Request<'_>, _fields: Fields<'_>, _facts: &Facts) -> Answer {
        Answer::Refused(format!("Unknown control request subtype: {}", request.subtype.unescape()), None)
    }

    /// A prompt that cannot be read is a turn that fails; anything else that makes no sense is told.
    fn damaged(&self, line: &Misread<'_>) -> Damage {
        let shown: String = line.text.trim().chars().take(SHOWN).collect();
        let more = if line.text.trim().len() > shown.len() { "…" } else { "" };
        let why = format!("QWEN_INVALID_REQUEST: {}: {shown}{more}", line.why);
        let is_prompt = |json: Raw<'_>| json.get("type").is_none() && (json.get("input").is_some() || json.get("messages").is_some());
        if line.json.is_some_and(is_prompt) {
            Damage::FailedTurn(why.into())
        } else {
            Damage::Told(why)
        }
    }

    fn tells_faults(&self) -> bool {
        true
    }

    fn has_versions(&self) -> bool {
        true
    }

    fn exit_code(&self, ended: Ended) -> u8 {
        u8::from(!ended.interactive && ended.is_error)
    }

    fn can_ask(&self) -> bool {
        true
    }

    fn gives_signs_of_life(&self) -> bool {
        true
    }
}
