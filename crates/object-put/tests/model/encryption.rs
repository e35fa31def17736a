//! Modes of encryption that steps write and read with.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use proptest::prelude::*;

use crate::service::Draft;

/// Modes of encryption: the headers of what is written, and those of what is read and of parts.
pub(crate) type Mode = (fn(Draft) -> Draft, fn(Draft) -> Draft);

pub(crate) const MODES: [Mode; 5] = [
    (|draft| draft, |draft| draft),
    (|draft| draft.with(MODE, "aws:kms"), |draft| draft),
    (
        |draft| draft.with(MODE, "aws:kms").with(&format!("{MODE}-bucket-key-enabled"), "true"),
        |draft| draft,
    ),
    (|draft| draft.with(MODE, "aws:kms:dsse"), |draft| draft),
    (|draft| with_customers_key(draft, ""), |draft| with_customers_key(draft, "")),
];
pub(crate) const MODE: &str = "x-store-server-side-encryption";
/// The mode whose key each request brings.
pub(crate) const CUSTOMER: usize = 4;

pub(crate) fn with_customers_key(draft: Draft, source: &str) -> Draft {
    let name = |end: &str| format!("x-store{source}-server-side-encryption-customer-{end}");
    draft
        .with(&name("algorithm"), "AES256")
        .with(&name("key"), STANDARD.encode([7; 32]))
        .with(&name("key-md5"), STANDARD.encode(Md5::digest([7; 32])))
}

/// Any mode, that of service-managed keys most often.
pub(crate) fn mode() -> impl Strategy<Value = usize> {
    prop_oneof![3 => Just(0_usize), 2 => 1..MODES.len()]
}
