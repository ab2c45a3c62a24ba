use crate::codec::Layout;
use crate::frame::{Lines, Sse, Values};

/// How a stream is cut.
#[derive(Debug)]
pub(crate) enum Framing {
    /// A line holds values, one after the other, or text that is none.
    Lines(Lines),
    /// Values that a person or a tool may have spread over many lines; the elements of an array are messages of their own.
    /// Behind a value of a log that is a stream else (`then`) that may begin anew.
    Values {
        finder: Values,
        buffer: Vec<u8>,
        /// A value of more bytes is not held, and nothing behind it is read.
        most: usize,
        then: Option<Streamed>,
    },
    /// Behind a value that is too large.
    LeftOut,
    /// A model's stream.
    Events(Sse),
    /// A log of which the beginning has not told yet whether it lies as its format has it: people keep the lines of a log in one array, or
    /// spread over many lines.
    Begun { head: Vec<u8>, then: Streamed, max_line: usize },
}

/// How a stream is cut that is no list of values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Streamed {
    Lines,
    Events,
}

impl Framing {
    /// How logs that look so are cut; lines, events and values longer than `max_line` are left out.
    pub(crate) fn of(layout: Layout, max_line: usize) -> Self {
        let begun = |then| Self::Begun {
            head: Vec::new(),
            then,
            max_line,
        };
        match layout {
            Layout::Sse => begun(Streamed::Events),
            Layout::Document | Layout::Session => Self::Values {
                finder: Values::default(),
                buffer: Vec::new(),
                most: max_line,
                then: None,
            },
            _ => begun(Streamed::Lines),
        }
    }

    /// Lines and nothing else: what a program says while it runs.
    pub(crate) const fn lines(max_line: usize) -> Self {
        Self::Lines(Lines::new(max_line))
    }
}

impl Streamed {
    pub(super) fn framing(self, max_line: usize) -> Framing {
        match self {
            Self::Lines => Framing::lines(max_line),
            Self::Events => Framing::Events(Sse::new(max_line)),
        }
    }
}
