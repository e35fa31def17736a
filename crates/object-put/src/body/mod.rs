//! The body of a request as it streams by: framing, digests, encryption.

pub mod aws_chunked;
pub mod checksum;
pub mod encryption;
pub mod md5_lanes;
