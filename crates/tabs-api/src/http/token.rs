//! Bearer tokens: kept as hashes, and compared in a time that tells nothing.

use std::collections::HashMap;

use http::header;
use http::request::Parts as Head;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::origin_policy::text;
use super::request::parameter;

/// The hash that is kept of a token. The token itself is not.
pub(super) type TokenHash = [u8; 32];

/// The hash of a token. Looking it up takes no time that tells of another.
pub(super) fn hash(token: &str) -> TokenHash {
    Sha256::digest(token.as_bytes()).into()
}

/// The profile and the extension that each token speaks for.
pub(super) type Tokens = HashMap<TokenHash, (String, String)>;

/// The bearer token of a request. A page cannot give a WebSocket headers, so there the query may carry it.
pub(super) fn token(head: &Head, or_query: bool) -> Option<String> {
    let bearer = text(&head.headers, header::AUTHORIZATION).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    match bearer {
        Some(token) => Some(token.to_owned()),
        None if or_query => parameter(head, "token"),
        None => None,
    }
}

/// True if two tokens are the same, in a time that tells nothing.
pub(super) fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}
