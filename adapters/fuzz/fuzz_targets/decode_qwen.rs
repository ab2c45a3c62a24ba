//! The decoder of `qwen`. The first byte chooses mode and cuts.

#![no_main]

use agentglot_adapters::raw::codec::Dialect;

libfuzzer_sys::fuzz_target!(|input: &[u8]| agentglot_adapters_fuzz::decode(Dialect::Qwen, input));
