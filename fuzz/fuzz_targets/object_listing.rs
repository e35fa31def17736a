#![no_main]

#[path = "../../crates/object-put/tests/fuzz/mod.rs"]
mod object;

libfuzzer_sys::fuzz_target!(|data: &[u8]| object::listing(data));
