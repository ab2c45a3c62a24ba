//! Writes a made-up agent log to stdout: `generate KIND SIZE [--seed N] [--sessions N]`. SIZE is in bytes, or in `kB`,
//! `MB`, `GB` (powers of ten). The same arguments always give the same bytes. Without arguments it lists the kinds.

mod corpus;

use std::io::{self, ErrorKind};
use std::process::ExitCode;

use corpus::{Corpus, Plan};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (corpus, plan) = match parse(&arguments) {
        Ok(wanted) => wanted,
        Err(why) => {
            eprintln!("{why}\nusage: generate KIND SIZE [--seed N] [--sessions N] > FILE\nkinds:");
            for corpus in Corpus::all() {
                eprintln!("  {}", corpus.name());
            }
            return ExitCode::from(2);
        }
    };
    match corpus.write(plan, &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("writing failed: {error}");
            ExitCode::from(3)
        }
    }
}

fn parse(arguments: &[String]) -> Result<(Corpus, Plan), String> {
    let [kind, size, options @ ..] = arguments else {
        return Err("KIND and SIZE are needed".to_owned());
    };
    let corpus = Corpus::from_name(kind).ok_or_else(|| format!("no kind is called {kind:?}"))?;
    let mut plan = Plan::of_size(bytes(size).ok_or_else(|| format!("{size:?} is no size"))?);
    for option in options.chunks(2) {
        let number = option.get(1).and_then(|value| value.parse().ok());
        match (option[0].as_str(), number) {
            ("--seed", Some(seed)) => plan.seed = seed,
            ("--sessions", Some(sessions)) if sessions > 0 => plan.sessions = sessions,
            (name, _) => {
                return Err(format!("{name}: --seed N and --sessions N (at least 1) are understood"));
            }
        }
    }
    Ok((corpus, plan))
}

fn bytes(size: &str) -> Option<u64> {
    let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &size[digits.len()..] {
        "" | "B" => 1,
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_say_what_to_write() {
        let arguments = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let (corpus, plan) = parse(&arguments("tricode 12MB --seed 7 --sessions 3")).expect("all of it is right");
        assert_eq!((corpus, plan.seed, plan.bytes, plan.sessions), (Corpus::Tricode, 7, 12_000_000, 3));
        for wrong in ["tricode", "nothing 1MB", "tricode 1TB", "tricode 1MB --seed", "tricode 1MB --sessions 0"] {
            assert!(parse(&arguments(wrong)).is_err(), "{wrong}");
        }
    }
}
