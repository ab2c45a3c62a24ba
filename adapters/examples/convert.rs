//! Converts standard input: `convert FROM TO [--verbatim] [--partial] [--repair] [--ledger FILE]`.

use std::io::{Read, Write};

use agentglot_adapters::convert::{Converter, Options, ToolNames};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let usage = "convert FROM TO [--verbatim] [--partial] [--repair] [--ledger FILE]";
    let from = args.next().ok_or(usage)?.parse()?;
    let to = args.next().ok_or(usage)?.parse()?;
    let mut options = Options::new(from, to);
    let mut ledger = None;
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--verbatim" => options.tools = ToolNames::Verbatim,
            "--partial" => options.partial = true,
            "--repair" => options.repair = true,
            "--ledger" => ledger = Some(args.next().ok_or(usage)?),
            _ => return Err(usage.into()),
        }
    }
    options.ledger = ledger.is_some().then(|| "-".to_owned());
    // What could not be written stays, and is tried again below, where it is told.
    let mut converter = Converter::new(options).drained(Box::new(|made| {
        if std::io::stdout().write_all(made).is_ok() {
            made.clear();
        }
    }));
    let (mut stdin, mut stdout) = (std::io::stdin().lock(), std::io::stdout());
    let (mut buffer, mut out) = (vec![0; 1 << 20], Vec::new());
    loop {
        let read = stdin.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        converter.feed(&buffer[..read], &mut out);
        stdout.write_all(&out)?;
        out.clear();
    }
    converter.finish(&mut out);
    stdout.write_all(&out)?;
    for damage in converter.take_damage() {
        eprintln!("line {} byte {}: {}", damage.line, damage.byte, damage.reason);
    }
    if let Some(path) = ledger {
        std::fs::write(path, converter.take_ledger())?;
    }
    Ok(())
}
