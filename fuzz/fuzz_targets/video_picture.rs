#![no_main]

#[expect(dead_code, reason = "one of its functions is the target")]
#[path = "../../crates/video-api/tests/fuzz/mod.rs"]
mod video;

libfuzzer_sys::fuzz_target!(|data: &[u8]| video::picture(data));
