//! Programs that keep their sessions in no files of a kind that others read: they are asked.

use std::time::Duration;

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::store::{Asked, Home, Ids};
use serde_json::Value;

use crate::child::{Child, Environment, Plan, Steps};
use crate::status::Failure;

/// A program has to have answered within this time.
const PATIENCE: Duration = Duration::from_secs(30);
/// It may say so much.
const MOST: usize = 1 << 30;

/// The programs that have sessions and have to be asked.
fn asked() -> impl Iterator<Item = (Dialect, &'static Home, &'static Asked)> {
    super::stores().filter_map(|(dialect, _, home)| {
        let asked = home.asked.as_ref()?;
        let has = super::root(home).is_some_and(|root| root.join(asked.kept).is_file());
        has.then_some((dialect, home, asked))
    })
}

/// All sessions of the programs that have to be asked: whose, and what its program says.
///
/// # Errors
/// Each program that does not answer.
pub(crate) fn list() -> Vec<(Dialect, Result<Vec<Value>, Failure>)> {
    let answers = asked().map(|(dialect, _, asked)| {
        let said = say(asked.list, &[]).and_then(|said| {
            let listed = serde_json::from_slice(&said);
            listed.map_err(|error| Failure::Usage(format!("{} lists its sessions in a way that we do not know: {error}", asked.list[0])))
        });
        (dialect, said)
    });
    answers.collect()
}

/// The sessions of one program, if it has to be asked. One that does not answer has none.
pub(crate) fn list_of(dialect: Dialect) -> Vec<Value> {
    let Some((.., asked)) = asked().find(|(of, ..)| *of == dialect) else {
        return Vec::new();
    };
    let said = say(asked.list, &[]).map_err(|failure| failure.to_string());
    let listed = said.and_then(|said| serde_json::from_slice(&said).map_err(|error| error.to_string()));
    listed.unwrap_or_else(|why| {
        tracing::warn!("the sessions cannot be listed: {why}");
        Vec::new()
    })
}

/// What the program says of a session whose id looks like one of its own; `None`: it looks like that of no such program.
///
/// # Errors
/// When it does not answer, or has no such session.
pub(crate) fn one(id: &str) -> Option<Result<Vec<u8>, Failure>> {
    let of = |home: &Home| match home.ids {
        Ids::Prefixed(prefix) => id
            .strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())),
        Ids::Random | Ids::Timed => false,
    };
    let (_, _, asked) = asked().find(|(_, home, _)| of(home))?;
    Some(say(asked.one, &[("ID", id)]))
}

/// A program's words, with what they stand for in place of the names.
pub(crate) fn filled(words: &[&str], values: &[(&str, &str)]) -> Vec<String> {
    let fill = |word: &&str| values.iter().find(|(name, _)| name == word).map_or(*word, |(_, value)| value).to_owned();
    words.iter().map(fill).collect()
}

/// What a program writes on standard output.
fn say(words: &[&str], values: &[(&str, &str)]) -> Result<Vec<u8>, Failure> {
    let words = filled(words, values);
    let failed = |why: String| Failure::Usage(format!("{}: {why}", words[..2.min(words.len())].join(" ")));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(error.to_string()))?;
    runtime.block_on(async {
        let env = Environment::default().allow(["*"]);
        let plan = Plan { env, ..Plan::new(&words[0]) }.args(&words[1..]);
        let child = Child::start(plan).map_err(|error| failed(error.to_string()))?;
        child.close_stdin();
        let mut said = Vec::new();
        let mut room = vec![0; 64 << 10];
        let listen = async {
            while let Ok(read @ 1..) = child.read(&mut room).await {
                if said.len() < MOST {
                    said.extend_from_slice(&room[..read]);
                }
            }
            child.ended().await
        };
        let Ok(ending) = tokio::time::timeout(PATIENCE, listen).await else {
            child.stop(Steps::NOW).await;
            return Err(failed(format!("it did not answer within {} s", PATIENCE.as_secs())));
        };
        match ending.exit {
            Some(exit) if exit.is_success() => Ok(said),
            exit => {
                let how = exit.map_or_else(|| "does not end".to_owned(), |exit| exit.to_string());
                let tail = String::from_utf8_lossy(&child.stderr_tail()).trim().to_owned();
                let last = tail.lines().last().unwrap_or_default();
                Err(failed(format!("it {how}: {}", crate::io::visible(last))))
            }
        }
    })
}
