//! The body of a request as it streams by: framing, digests, encryption.

pub mod aws_chunked;
pub(crate) mod base64_array;
pub mod body_headers;
pub mod checksum;
pub mod crc;
pub mod customer_key;
pub mod encryption;
pub mod object_key;
pub mod part_digests;
pub mod verifier;
