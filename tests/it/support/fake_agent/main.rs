//! A fake agent: a program that does what a script says, for tests of everything that must not go wrong with a real one.
//!
//! The script comes from `--script FILE`, from `--do COMMAND …` (one command an argument), from the file that
//! `FAKE_AGENT_SCRIPT` names, or from the file beside the program that has its name and `.script` at the end, whichever is found
//! first; other arguments are for the script to look at. See [`script`] for the commands.

#[cfg(unix)]
mod lines;
#[cfg(unix)]
mod play;
#[cfg(unix)]
mod script;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    use std::ffi::OsString;
    let args: Vec<OsString> = std::env::args_os().collect();
    let script = script::find(&args).and_then(|text| script::parse(&text));
    let played = script.and_then(|commands| play::Player::new(args).play(&commands));
    played.map_or_else(
        |error| {
            eprintln!("fake_agent: {error}");
            std::process::ExitCode::from(64)
        },
        std::process::ExitCode::from,
    )
}

#[cfg(not(unix))]
fn main() {
    eprintln!("fake_agent: runs on Unix only");
}
