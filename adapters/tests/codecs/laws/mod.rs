//! The laws of the design, each as a test over the golden logs, over the recordings where they are at hand, and over
//! stories made up by chance.
//!
//! A failure names the law, the pair of formats and the log. `SHOW=20` shows more of each group.

mod calls;
mod chunking;
mod clock;
mod ends;
mod found;
mod given_back;
mod identity;
mod lost;
mod marked;
mod mutations;
mod outcomes;
mod pretty;
mod recognised;
mod retractions;
mod sacred;
mod sessions;
mod stability;
mod stories;
mod tokens;
mod told_once;
