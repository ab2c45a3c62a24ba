//! What several personas say in the same way. Nothing here knows which.

pub(super) mod ajv;
pub(in crate::persona) mod args;
pub(super) mod asking;
pub(super) mod grep;
pub(super) mod jobs;
pub(super) mod native;
pub(super) mod say;
pub(super) mod search;
pub(super) mod web;
