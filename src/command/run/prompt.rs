//! The one prompt of a host that does not talk.

use std::io::{ErrorKind, IsTerminal, Read};
use std::time::Duration;

use agentglot_adapters::raw::launch::{Launch, Piped, Resume, Traits};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// What came of asking for it.
pub(super) enum Prompt {
    /// All of it.
    Whole(String),
    /// There is none.
    None,
    /// This signal came before its end, behind this much of it.
    Stopped(i32, String),
}

/// The prompt of a host that does not talk: from the command line, else all of standard input; or both, where the program takes both.
///
/// A host that neither says more nor closes its end is given up after a while: it waits for us as we do for it.
pub(super) async fn prompt(launch: &Launch, patience: Duration, most: usize, stop: &mut impl AsyncFnMut() -> i32) -> Result<Prompt, String> {
    let too_long = |place: &str| format!("the prompt {place} has more than {most} bytes; --max-prompt says how long it may be");
    let traits = launch.format.dialect.program().map_or(Traits::NONE, |program| program.traits);
    // Who goes on with a session says all on the command line.
    let piped = match traits.piped {
        Piped::Tagged(_) if launch.resume != Resume::New => Piped::Unread,
        piped => piped,
    };
    let typed = launch.prompt.as_ref().filter(|prompt| !prompt.is_empty());
    if typed.is_some_and(|prompt| prompt.len() > most) {
        return Err(too_long("on the command line"));
    }
    let mut stdin = std::io::stdin();
    match typed {
        Some(prompt) if piped == Piped::Unread || stdin.is_terminal() => return Ok(Prompt::Whole(prompt.clone())),
        None if stdin.is_terminal() => return Ok(Prompt::None),
        _ => {}
    }
    let (give, mut coming) = mpsc::channel::<Vec<u8>>(4);
    std::thread::spawn(move || {
        let mut room = vec![0; crate::io::READ];
        loop {
            let read = match stdin.read(&mut room) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read.unwrap_or(0),
            };
            if read == 0 || give.blocking_send(room[..read].to_vec()).is_err() {
                return;
            }
        }
    });
    let mut bytes = Vec::new();
    loop {
        // Who inherits a standard input that nobody writes to has said all on the command line.
        let first = match piped {
            Piped::Before(millis) if typed.is_some() && bytes.is_empty() => Some(Duration::from_millis(millis)),
            _ => None,
        };
        let piece = tokio::select! {
            biased;
            number = stop() => return Ok(Prompt::Stopped(number, String::from_utf8_lossy(&bytes).into_owned())),
            piece = timeout(first.unwrap_or(patience), coming.recv()) => piece,
        };
        match piece {
            Err(_) if first.is_some() || matches!(piped, Piped::Tagged(_)) && typed.is_some() && bytes.is_empty() => break,
            Ok(Some(piece)) if bytes.len() + piece.len() > most => return Err(too_long("on standard input")),
            Ok(Some(piece)) => bytes.extend_from_slice(&piece),
            Ok(None) => break,
            Err(_) => {
                return Err(format!(
                    "the prompt on standard input has not ended: {} bytes, and nothing more for {:.1} s; close standard input behind it, or \
                     give the prompt as an argument",
                    bytes.len(),
                    patience.as_secs_f64()
                ));
            }
        }
    }
    let said = (traits.decodes)(&bytes)?;
    let text = match (typed, piped) {
        (Some(typed), _) if said.is_empty() => typed.clone(),
        (Some(typed), Piped::Tagged(_)) if said.trim().is_empty() => typed.clone(),
        (Some(typed), Piped::Tagged(name)) => {
            let end = if said.ends_with('\n') { "" } else { "\n" };
            format!("{typed}\n\n<{name}>\n{said}{end}</{name}>")
        }
        (Some(typed), Piped::Behind) => format!("{typed}\n{said}"),
        (Some(typed), _) => format!("{said}\n\n{typed}"),
        (None, _) => said.trim().to_owned(),
    };
    Ok(if text.is_empty() { Prompt::None } else { Prompt::Whole(text) })
}
