//! What the Node package `agentglot` has in Rust. Its JavaScript side (`lib/`) has the documented API; here are the calls that it is made of:
//! bytes and paths in, bytes and JSON out, each on a thread of Node's pool.
//!
//! No call throws: what went wrong is the member `fault` of the answer, from which JavaScript makes its errors.

#![allow(unreachable_pub, reason = "what is exported has to be public for `napi`")]

mod as_one;
mod fault;
mod feed;
mod turns;
mod work;
