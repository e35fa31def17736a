//! The `object-put` binary.
fn main() {}
