//! Being called by another program's name.

use std::path::Path;

use agentglot_adapters::codec::Dialect;

/// The names of the links, and whose program each is.
pub(crate) const NAMES: [(&str, Dialect); 6] = [
    ("claude", Dialect::Claude),
    ("qwen", Dialect::QwenCode),
    ("qwen-rfc", Dialect::Qwen),
    ("cursor-agent", Dialect::Cursor),
    ("agent", Dialect::Cursor),
    ("tricode", Dialect::Tricode),
];

/// Whose program we were called as, by the name of the link. What `qwen` means can be changed: its hosts expect what it ships
/// today, and only a host of the RFC asks for chunks.
pub(super) fn called() -> Option<Dialect> {
    let name = std::env::args_os().next()?;
    let stem = Path::new(&name).file_stem()?.to_str()?.to_owned();
    let (_, dialect) = NAMES.into_iter().find(|(known, _)| *known == stem)?;
    let rfc = || {
        let asked = std::env::args().any(|arg| arg == "stream-chunk-json" || arg == "--output-format=stream-chunk-json");
        asked || std::env::var("AGENTGLOT_QWEN").is_ok_and(|value| value == "rfc")
    };
    Some(if stem == "qwen" && rfc() { Dialect::Qwen } else { dialect })
}
