//! Signatures: who sent a request, and that nobody changed it.

/// How far the clocks of client and server may be apart.
pub const SKEW_MILLIS_MAX: i64 = 15 * 60 * 1000;
