//! Any pair of formats. The first byte chooses what is read, the second what is written, the third the options.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| agentglot_adapters_fuzz::pair(input));
