//! What is made of the options at the beginning of a session.

use super::{Options, ToolNames};
use crate::assemble::{Assembler, Duties};
use crate::codec::{Dialect, Encode, Encoder, Format, Layout, Style, Tools, Want};
use crate::tools::Translate;

/// Whether events that were stored go back to the dialect that they come from: then each line is given back as it was, whatever
/// the flags say about partial messages. The RFC has two modes of which stored events do not say which it was.
pub(super) fn gives_back(options: &Options, source: Format) -> bool {
    let alike = options.to.dialect.modes().iter().filter(|mode| !mode.apart);
    let streaming = alike.filter(|&&mode| Format { mode, ..options.to }.is_streaming());
    let stores = options.anew.is_none() && options.from.dialect.vendor().logs.stores_others && source.dialect == options.to.dialect;
    // Stored events say which mode they come from that has words of its own, but not which of several others.
    stores
        && match source.mode.apart || options.to.mode.apart {
            true => source == options.to,
            false => options.to.is_streaming() && streaming.count() == 1,
        }
}

/// Whether the lines themselves are copied. What a repair adds stands behind them; in a session that is one value it stands inside.
pub(super) fn is_copied(options: &Options, collects: bool) -> bool {
    let repairs_inside = options.repair && options.to.mode.layout.is_one_value();
    options.from == options.to && options.anew.is_none() && !collects && !repairs_inside
}

/// Whether nothing is asked about the lines but what they say, each for itself.
pub(super) fn by_heart(options: &Options, identity: bool) -> bool {
    !identity && options.to.mode.layout != Layout::Document && options.ledger.is_none() && !options.strict && !options.validate
}

pub(super) fn style(options: &Options, source: Format, at: u64) -> Style {
    // Lines that were read are not written again as they were where they are to say something else.
    let anew = options.anew.is_some() && source.dialect == options.to.dialect;
    Style {
        mode: options.to.mode,
        source: if anew { Dialect::CANONICAL } else { source.dialect },
        source_mode: source.mode,
        partial: options.partial || gives_back(options, source),
        native_tools: options.tools == ToolNames::Native,
        old_text: options.old_text,
        hides_thoughts: false,
        agent: false,
        verbose: options.verbose,
        at,
    }
}

pub(super) fn assembler(options: &Options, source: Format, encoder: &Encoder, prompts_used: usize) -> Assembler {
    let collects = matches!(encoder, Encoder::Collector(_));
    let identity = is_copied(options, collects);
    let (from, to) = (source.dialect, options.to.dialect);
    let as_is = identity || gives_back(options, source) && !collects;
    let want = if as_is { Want::AS_IS } else { encoder.want() };
    let native = options.tools == ToolNames::Native
        && want.tools != Tools::Nothing
        && from != to
        && !from.vendor().logs.stores_others
        && !to.vendor().logs.stores_others;
    let escape = |text: &String| {
        let mut body = String::new();
        crate::json::Str::escape(text, &mut body);
        body
    };
    let duties = Duties {
        tools: native.then(|| Translate::new(from, to).with_cd(options.cd_in_commands).for_format(options.to)),
        foreign: from != to && !from.vendor().logs.stores_others && !to.vendor().logs.stores_others,
        repair: options.repair,
        gives_back: gives_back(options, source) && !collects,
        watch: identity,
        prompts: options.prompts.iter().map(escape).collect(),
        ..Duties::default()
    };
    let mut stores = options.to.dialect.vendor().stores.iter();
    let home = options
        .anew
        .as_ref()
        .and_then(|_| stores.find(|store| store.mode == options.to.mode)?.home);
    let want = Want {
        keeps_quiet: home.is_some_and(|home| !home.thoughts),
        ..want
    };
    let mut assembler = Assembler::new(source, want, duties);
    assembler.skip_prompts(prompts_used);
    assembler
}
