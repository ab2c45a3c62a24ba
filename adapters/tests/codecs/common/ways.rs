//! Whole conversions, by comparison with earlier lines and in the general way, which is taken where a ledger is kept.

use agentglot_adapters::convert::{Converter, Damage, Options, Silent, ToolNames};
use agentglot_adapters::raw::codec::Format;

use super::{Chance, Wrongs, parting, short, with_ledger};

/// What came out, what was wrong with the input, and how many lines gave nothing.
fn result(options: &Options, bytes: &[u8]) -> (Vec<u8>, Vec<Damage>, Silent) {
    let mut converter = Converter::new(options.clone());
    let mut out = Vec::new();
    converter.feed(bytes, &mut out);
    converter.finish(&mut out);
    (out, converter.take_damage(), converter.silent())
}

/// Converts a log to every other format, with and without a ledger, and sees to it that both are alike.
pub fn alike(name: &str, from: Format, bytes: &[u8], chance: &mut Chance, wrongs: &mut Wrongs) {
    for to in Format::all().filter(|to| *to != from) {
        let options = Options {
            tools: if chance.below(2) == 0 { ToolNames::Verbatim } else { ToolNames::Native },
            partial: chance.below(2) == 0,
            repair: chance.below(8) == 0,
            verbose: chance.below(2) == 0,
            prompts: if chance.below(4) == 0 {
                vec!["Say \"hi\"".to_owned()]
            } else {
                Vec::new()
            },
            ..Options::new(from, to)
        };
        wrongs.check();
        let by_heart = result(&options, bytes);
        let general = result(&with_ledger(options.clone()), bytes);
        let group = format!("{from} -> {to}");
        if by_heart.0 != general.0 {
            keep(name, from, to, bytes);
            wrongs.add(&group, format!("{name}: {} ({options:?})", parting(&by_heart.0, &general.0)));
        } else if by_heart.1 != general.1 {
            wrongs.add(&group, format!("{name}: {}", short(&format!("{:?} / {:?}", by_heart.1, general.1), 600)));
        } else if by_heart.2 != general.2 {
            keep(name, from, to, bytes);
            wrongs.add(&group, format!("{name}: silent {:?} / {:?}", by_heart.2, general.2));
        }
    }
}

/// Puts an input that shows a difference into the folder that `KEEP` names, for whoever looks into it.
fn keep(name: &str, from: Format, to: Format, bytes: &[u8]) {
    if let Ok(folder) = std::env::var("KEEP") {
        let name = format!("{folder}/{from}-{to}-{}", name.replace(['/', ' '], "_"));
        std::fs::write(name, bytes).expect("KEEP names a folder");
    }
}
