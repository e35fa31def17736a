#![no_main]

#[expect(dead_code, reason = "one of its functions is the target")]
#[path = "../../crates/video-api/tests/caption/fuzz.rs"]
mod caption;

libfuzzer_sys::fuzz_target!(|data: &[u8]| caption::vtt(data));
