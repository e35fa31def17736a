//! An object store built around PutObject: durable before it answers, exact in its errors.
#![forbid(unsafe_code)]
