//! What encoders ask for.

/// What a target wants of the assembler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want {
    /// Replies in pieces: [`BlockStart`](crate::event::BlockStart), [`Delta`](crate::event::Delta),
    /// [`BlockStop`](crate::event::BlockStop), one block after the other.
    pub deltas: bool,
    /// Replies as whole blocks: [`Reply`](crate::event::Reply). With both, a block's snapshot comes before its stop.
    pub snapshots: bool,
    /// Among the deltas the [pieces of a call's arguments](crate::event::Piece::Input); without it calls come without any.
    pub inputs: bool,
    /// Events of subagents; without it they are left out, and the ledger is told.
    pub subagents: bool,
    /// The source's events as they are: nothing supplied, nothing taken away.
    pub as_is: bool,
    /// The id of a block's end is that of the line with the whole block.
    pub line_ids: bool,
    /// What was said in pieces can be taken back. Without it what comes again is not said again.
    pub retracts: bool,
    /// There is a place for thoughts. Without it they come, and the ledger hears that they go over only from who writes them.
    pub thoughts: bool,
    /// Thoughts do not come at all: who goes on with what is written would be refused for them.
    pub keeps_quiet: bool,
    /// What is said of calls that are not whole yet comes when its line is read: who is told notes the line.
    pub at_once: bool,
    /// A round stays open over the results of its calls where the source says its tokens only then: they stand with what was said.
    pub whole_rounds: bool,
    /// The results of such a round come behind its end.
    pub results_last: bool,
    /// A reply is one line: the results of its first calls come behind its last ones, too.
    pub whole_replies: bool,
    /// Questions to the host are written, in their place.
    pub asks: bool,
    /// What is written of tools.
    pub tools: Tools,
    /// Replies say which model gave them.
    pub models: bool,
    /// Calls have their ids.
    pub call_ids: bool,
    /// What the model's API does itself stays a part of the reply, in the API's own blocks.
    pub served: bool,
    /// Nothing but their prompts tells turns apart.
    pub turns_by_prompts: bool,
}

/// What a target writes of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    /// Calls, with their arguments and results.
    Calls,
    /// Names of tools, and how calls went.
    Names,
    /// Nothing.
    Nothing,
}

/// How a target says of a call that it was refused or stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TellsEnd {
    /// A member of its own does, or the text as it is.
    Itself,
    /// The text begins with what its program writes there, which it does not yet.
    InWords {
        /// What stands before it: on a line of its own, unless it ends with a blank.
        words: &'static str,
        /// The pointer of the output.
        at: &'static str,
    },
    /// It cannot, and why.
    Lost(&'static str),
}

impl Want {
    /// Whole blocks.
    pub const SNAPSHOTS: Self = Self {
        deltas: false,
        snapshots: true,
        inputs: false,
        subagents: false,
        as_is: false,
        line_ids: false,
        retracts: false,
        thoughts: true,
        keeps_quiet: false,
        at_once: false,
        whole_rounds: false,
        results_last: false,
        whole_replies: false,
        asks: false,
        tools: Tools::Calls,
        models: true,
        call_ids: true,
        served: false,
        turns_by_prompts: false,
    };
    /// Pieces.
    pub const DELTAS: Self = Self {
        snapshots: false,
        ..Self::BOTH
    };
    /// Pieces and whole blocks.
    pub const BOTH: Self = Self {
        deltas: true,
        inputs: true,
        ..Self::SNAPSHOTS
    };
    /// Everything as it is.
    pub const AS_IS: Self = Self {
        subagents: true,
        as_is: true,
        ..Self::BOTH
    };

    /// The same without the pieces of calls' arguments.
    pub const fn without_inputs(self) -> Self {
        Self { inputs: false, ..self }
    }

    /// The same where what was said in pieces can be taken back.
    pub const fn with_retraction(self) -> Self {
        Self { retracts: true, ..self }
    }

    /// The same where the tokens of a round stand with what it said.
    pub const fn with_whole_rounds(self) -> Self {
        Self { whole_rounds: true, ..self }
    }

    /// The same where what a round said is written with its tokens, before the results of its calls.
    pub const fn with_results_last(self) -> Self {
        Self {
            results_last: true,
            ..self.with_whole_rounds()
        }
    }

    /// The same where a reply is one line, whatever came between its parts.
    pub const fn with_whole_replies(self) -> Self {
        Self {
            whole_replies: true,
            ..self.with_results_last()
        }
    }

    /// The same where questions to the host are written.
    pub const fn with_questions(self) -> Self {
        Self { asks: true, ..self }
    }

    /// The same where this is written of tools.
    pub const fn with_tools(self, tools: Tools) -> Self {
        Self { tools, ..self }
    }

    /// The same where no reply says which model gave it.
    pub const fn without_models(self) -> Self {
        Self { models: false, ..self }
    }

    /// The same where replies are kept as the API gave them.
    pub const fn with_served(self) -> Self {
        Self { served: true, ..self }
    }

    /// The same where only prompts tell turns apart.
    pub const fn with_turns_by_prompts(self) -> Self {
        Self {
            turns_by_prompts: true,
            ..self
        }
    }

    /// The same where calls have no ids.
    pub const fn without_call_ids(self) -> Self {
        Self { call_ids: false, ..self }
    }

    /// The same without a place for thoughts.
    pub const fn without_thoughts(self) -> Self {
        Self { thoughts: false, ..self }
    }

    /// The same with the events of subagents.
    pub const fn with_subagents(self) -> Self {
        Self { subagents: true, ..self }
    }
}
