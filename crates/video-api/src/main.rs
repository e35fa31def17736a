//! The `video-api` binary.
fn main() {}
