//! Everything one does with this repository.
fn main() {}
