//! What hosts of Tricode's are told.

use crate::model::{ModelError, ModelErrorKind};
use crate::persona::host::{HostFacts, HostPersona, plain};

#[derive(Debug)]
pub(super) struct TricodeHost;

static FACTS: HostFacts = HostFacts {
    counts_rounds: true,
    previews_changes: true,
    ..HostFacts::PLAIN
};

impl HostPersona for TricodeHost {
    fn facts(&self) -> &'static HostFacts {
        &FACTS
    }

    fn failure(&self, error: &ModelError) -> String {
        match error.status {
            Some(status) => format!("OpenAI API error: Error code: {status} - {}", plain(error)),
            None if error.kind == ModelErrorKind::Malformed => {
                tracing::warn!("{}", error.message);
                "OpenAI API error: Invalid response from API".to_owned()
            }
            None => format!("OpenAI API error: {}", error.message),
        }
    }
}
