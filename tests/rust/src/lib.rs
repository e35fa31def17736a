//! The clients are in `tests/`.
