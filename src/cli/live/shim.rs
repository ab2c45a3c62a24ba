//! Being called by another program's name.

use std::ffi::OsString;
use std::path::Path;

use agentglot_adapters::raw::codec::Dialect;

/// The names of the links, and whose program each is.
pub(crate) fn names() -> impl Iterator<Item = (&'static str, Dialect)> {
    let links = |dialect: Dialect| dialect.program().map_or(&[][..], |program| program.links);
    Dialect::readable().flat_map(move |dialect| links(dialect).iter().map(move |link| (*link, dialect)))
}

/// The programs of many sessions that are nobody's in particular: `agentglot NAME …` is `agentglot run --as NAME …`.
pub(super) fn short_forms() -> impl Iterator<Item = (&'static str, Dialect)> {
    let is_nobodys = |dialect: Dialect| dialect.program().is_some_and(|program| program.traits.command.is_some());
    names().filter(move |(_, dialect)| is_nobodys(*dialect))
}

/// The command line, with the longer words for a short form.
pub(in crate::cli) fn spelled_out() -> Vec<OsString> {
    let mut args: Vec<OsString> = std::env::args_os().collect();
    // Only flags without values may stand before a command.
    let first = args
        .iter()
        .skip(1)
        .position(|arg| arg == "--" || !arg.as_encoded_bytes().starts_with(b"-"));
    let short = first.and_then(|first| {
        let (_, dialect) = short_forms().find(|(known, _)| args[first + 1] == *known)?;
        Some((first + 1, dialect))
    });
    if let Some((at, dialect)) = short {
        args.splice(at..=at, ["run", "--as", dialect.name()].map(OsString::from));
    }
    args
}

/// Whose program we were called as, by the name of the link. What a link means can be changed: hosts expect what the program ships
/// today, and only those of another program of that name ask for an output that is its own.
pub(super) fn called() -> Option<Dialect> {
    let name = std::env::args_os().next()?;
    let stem = Path::new(&name).file_stem()?.to_str()?.to_owned();
    let (_, dialect) = names().find(|(known, _)| *known == stem)?;
    let claims = |other: &Dialect| {
        let claim = other.program().and_then(|program| program.claims).filter(|claim| claim.link == stem);
        claim.is_some_and(|claim| {
            let (variable, wanted) = claim.variable;
            let flag = format!("--output-format={}", claim.output);
            let asked = std::env::args().any(|arg| arg == claim.output || arg == flag);
            asked || std::env::var(variable).is_ok_and(|value| value == wanted)
        })
    };
    Some(Dialect::readable().find(claims).unwrap_or(dialect))
}
