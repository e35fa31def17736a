//! The header table of PutObject, and what a request's headers come to.

/// The most bytes that names and values of all headers have together.
pub const HEADER_BYTES_MAX: usize = 8 * 1024;
/// The most bytes that names (without prefix) and values of user metadata have together.
pub const METADATA_BYTES_MAX: usize = 2 * 1024;
