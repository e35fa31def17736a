//! The `tabs-api` binary.
fn main() {}
