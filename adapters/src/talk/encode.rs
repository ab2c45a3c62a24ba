//! Events to the list of a session, in whatever words.

use std::fmt::Debug;
use std::marker::PhantomData;

use super::hold::{Answer, Held, Places, Said, Who};
use crate::codec::{Dialect, Encode, Style, Want};
use crate::event::{Event, Input, InputKind};
use crate::json::Out;

/// How a dialect writes the list.
pub trait Words: Debug {
    /// Whose words they are.
    const DIALECT: Dialect;
    /// What they have a place for.
    const PLACES: Places;

    /// Writes the session up to the first thing that was said, the list's bracket with it.
    fn begin(held: &Held, out: &mut Out);

    /// Writes one thing that was said.
    fn said(said: &Said, out: &mut Out);

    /// Writes what came of the calls of one answer.
    fn answers(answers: &[Answer], out: &mut Out);
}

/// Writes a session when it is over.
#[derive(Debug)]
pub struct Encoder<W> {
    held: Held,
    own: bool,
    words: PhantomData<W>,
}

impl<W: Words> Encoder<W> {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        let own = style.is_own(W::DIALECT);
        Self {
            held: Held::new(own, W::PLACES),
            own,
            words: PhantomData,
        }
    }
}

impl<W: Words> Encode for Encoder<W> {
    fn want(&self) -> Want {
        Want::SNAPSHOTS.without_models().with_turns_by_prompts()
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        self.held.event(event, out);
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        if let InputKind::Prompt(prompt) = input.kind {
            self.held.prompt(prompt, &[], out);
        }
    }

    fn takes_fields(&self) -> bool {
        self.own
    }

    fn takes_usage(&self) -> bool {
        false
    }

    fn finish(&mut self, out: &mut Out) {
        if self.held.said.is_empty() {
            return;
        }
        W::begin(&self.held, out);
        let mut between = "";
        for said in &self.held.said {
            if said.who != Who::Nobody {
                out.lit(std::mem::replace(&mut between, ","));
                W::said(said, out);
            }
            if !said.answers.is_empty() {
                out.lit(std::mem::replace(&mut between, ","));
                W::answers(&said.answers, out);
            }
        }
        out.lit("]");
        out.bytes(&self.held.whole);
        out.lit("}\n");
    }
}
