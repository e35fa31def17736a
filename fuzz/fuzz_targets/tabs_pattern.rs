#![no_main]

#[path = "../../crates/tabs-api/tests/fuzz/mod.rs"]
mod tabs;

libfuzzer_sys::fuzz_target!(|data: &[u8]| tabs::pattern(data));
