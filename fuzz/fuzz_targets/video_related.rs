#![no_main]

#[path = "../../crates/video-api/tests/fuzz/mod.rs"]
mod video;

libfuzzer_sys::fuzz_target!(|data: &[u8]| video::related(data));
