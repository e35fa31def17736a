//! Rows that the index keeps of each document beside its words, and of all of them together.

use serde::{Deserialize, Serialize};
use triptych_core::kv::{JsonRecord, Table};

use super::postings::Number;
use super::{Facets, Kind};

/// Facts of a document that a query needs beside its words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its kind.
    #[serde(rename = "k")]
    pub kind: Kind,
    /// The resource's id.
    #[serde(rename = "i")]
    pub id: String,
    /// Its channel.
    #[serde(rename = "c")]
    pub channel: String,
    /// The start of its title, in lower case, for the order by title.
    #[serde(rename = "t")]
    pub title: String,
    /// The weight of all its words, for the rank.
    #[serde(rename = "l")]
    pub length: f64,
    /// Values that queries filter and order by.
    #[serde(rename = "f")]
    pub facets: Facets,
}

impl JsonRecord for Entry {}

/// Totals of all documents.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Totals {
    /// The number that the next document gets.
    pub next: Number,
    /// Number of documents.
    pub documents: u64,
    /// Number of public documents of each kind, in the order of [`Kind::ALL`].
    pub public: [u64; 3],
    /// The lengths of all documents together.
    pub length: f64,
}

impl JsonRecord for Totals {}

/// A row that is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberRow(pub Number);

impl JsonRecord for NumberRow {}

/// Entries by number.
pub const ENTRIES: Table<u64, Entry> = Table::new(0x8B);
/// Numbers by kind and id.
pub const NUMBERS: Table<(u8, String), NumberRow> = Table::new(0x8C);
/// The one row of totals.
pub const TOTALS: Table<(), Totals> = Table::new(0x8E);
