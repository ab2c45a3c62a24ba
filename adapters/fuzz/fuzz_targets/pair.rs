//! Any pair of formats. The first line chooses: what is read, what is written, and the options (`claude qwen 37`).

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| agentglot_adapters_fuzz::pair(input));
