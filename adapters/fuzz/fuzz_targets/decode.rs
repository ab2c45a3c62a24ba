//! The decoder of any format. The first line chooses: a format and how it is cut (`claude 17`).

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| agentglot_adapters_fuzz::decode(input));
