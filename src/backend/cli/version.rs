//! What a program says its version is.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use crate::child::{Child, Environment, Plan, Steps};

/// The first line that a program says when it is asked for its version.
pub(crate) async fn version(path: &Path, args: Vec<OsString>, env: Environment, patience: Duration) -> Result<String, String> {
    let plan = Plan { env, ..Plan::new(path) }.args(args);
    let child = Child::start(plan).map_err(|error| error.to_string())?;
    child.close_stdin();
    let mut said = Vec::new();
    let mut room = vec![0; 4096];
    let listen = async {
        while let Ok(read @ 1..) = child.read(&mut room).await {
            if said.len() < room.len() {
                said.extend_from_slice(&room[..read]);
            }
        }
        child.ended().await
    };
    let name = path.display();
    let Ok(ending) = tokio::time::timeout(patience, listen).await else {
        child.stop(Steps::NOW).await;
        return Err(format!("{name} --version did not answer within {} s", patience.as_secs()));
    };
    let text = String::from_utf8_lossy(&said);
    match text.lines().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) if ending.exit.is_some_and(|exit| exit.is_success()) => Ok(line.to_owned()),
        _ => {
            let how = ending.exit.map_or_else(|| "does not end".to_owned(), |exit| exit.to_string());
            Err(format!("{name} --version {how}"))
        }
    }
}
