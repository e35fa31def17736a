#![no_main]

#[expect(dead_code, reason = "one of its functions is the target")]
#[path = "../../crates/object-put/tests/fuzz/mod.rs"]
mod object;

libfuzzer_sys::fuzz_target!(|data: &[u8]| object::encryption_context(data));
