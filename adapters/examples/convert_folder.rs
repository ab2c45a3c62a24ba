//! Converts the logs of a folder, whatever agents wrote them: `cargo run --example convert_folder -- DIALECT FOLDER OUT`

use std::error::Error;
use std::fs;
use std::path::Path;

use agentglot_adapters::{Converter, Format, Options, Source, read};

pub(crate) fn convert(to: Format, folder: &Path, out: &Path) -> Result<usize, Box<dyn Error>> {
    let mut converted = 0;
    fs::create_dir_all(out)?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let log = fs::read(&path)?;
        // What is no agent's log is left alone.
        let Ok(Some(from)) = read(log.as_slice(), Source::Auto).format() else {
            continue;
        };
        let mut converter = Converter::new(Options::new(from, to));
        let mut text = Vec::new();
        converter.feed(&log, &mut text);
        converter.finish(&mut text);
        fs::write(out.join(path.file_name().unwrap_or_default()), text)?;
        converted += 1;
    }
    Ok(converted)
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [to, folder, out] = args.as_slice() else {
        return Err("convert_folder DIALECT FOLDER OUT".into());
    };
    println!("{} logs", convert(to.parse()?, Path::new(folder), Path::new(out))?);
    Ok(())
}
