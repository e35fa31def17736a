#![no_main]

#[expect(dead_code, reason = "one of its functions is the target")]
#[path = "../../crates/tabs-api/tests/fuzz/mod.rs"]
mod tabs;

libfuzzer_sys::fuzz_target!(|data: &[u8]| tabs::pattern(data));
