//! Which dialect a log is written in.
