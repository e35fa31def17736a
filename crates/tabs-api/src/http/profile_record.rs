//! The record of a profile: its seed and the hashes of its tokens, kept beside the rows of its browser.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use triptych_core::kv::{KeyValue, StoreError};

use super::large_write::{Write, rows_under};
use super::refusal::Refusal;
use super::token::TokenHash;
use crate::seed::{Seed, SeedError};
use crate::store::PROFILES;

/// The longest piece of a record.
const PIECE_BYTES: usize = 60_000;
/// The record that is kept of a profile beside the rows of its browser.
#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) seed: Seed,
    /// The hash of each extension's token.
    pub(super) tokens: BTreeMap<String, TokenHash>,
}

impl Record {
    /// The writes by which it takes the place of the one that is kept of the profile.
    ///
    /// # Errors
    /// `Seed`, `Store`.
    pub(super) fn writes(&self, store: &dyn KeyValue, name: &str) -> Result<Vec<Write>, Refusal> {
        let text = serde_json::to_vec(self).map_err(SeedError::from)?;
        let prefix = record_prefix(name);
        let old = rows_under(store, &prefix)?;
        let mut writes: BTreeMap<Vec<u8>, Option<Bytes>> =
            old.into_iter().map(|(key, _)| (key, None)).collect();
        for (number, piece) in text.chunks(PIECE_BYTES).enumerate() {
            writes.insert(format!("{number:06}").into_bytes(), Some(Bytes::copy_from_slice(piece)));
        }
        let named = |(key, value): (Vec<u8>, _)| ([&prefix[..], &key].concat().into(), value);
        Ok(writes.into_iter().map(named).collect())
    }
}

pub(super) fn record_prefix(name: &str) -> Vec<u8> {
    [PROFILES, name.as_bytes(), b"/"].concat()
}

/// Returns whether a row is one of this profile: of its browser, or of its record.
pub(super) fn is_row_of(name: &str, key: &[u8]) -> bool {
    let rest = key.strip_prefix(PROFILES).unwrap_or(key).strip_prefix(name.as_bytes());
    rest.is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// The record that is kept of a profile.
///
/// # Errors
/// `Store`.
pub(super) fn read_record(store: &dyn KeyValue, name: &str) -> Result<Option<Record>, Refusal> {
    let pieces = rows_under(store, &record_prefix(name))?;
    let text: Vec<u8> = pieces.into_iter().flat_map(|(_, piece)| piece).collect();
    (!text.is_empty()).then(|| record_of(name, &text)).transpose()
}

fn record_of(name: &str, text: &[u8]) -> Result<Record, Refusal> {
    let damaged = |error: serde_json::Error| {
        StoreError::Corrupt(format!("the record of profile {name}: {error}"))
    };
    Ok(serde_json::from_slice(text).map_err(damaged)?)
}

/// The records that are kept, by profile.
///
/// # Errors
/// `Store`.
pub(super) fn records(store: &dyn KeyValue) -> Result<BTreeMap<String, Record>, Refusal> {
    let mut texts = BTreeMap::<String, Vec<u8>>::new();
    for (key, piece) in rows_under(store, PROFILES)? {
        let key = String::from_utf8_lossy(&key).into_owned();
        let (name, _) = key.split_once('/').unwrap_or((&key, ""));
        texts.entry(name.to_owned()).or_default().extend(piece);
    }
    let read = |(name, text): (String, Vec<u8>)| {
        let record = record_of(&name, &text)?;
        Ok((name, record))
    };
    texts.into_iter().map(read).collect()
}
