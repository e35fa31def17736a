//! Public documents in the orders of results, each order rows whose keys sort as it does.

use triptych_core::kv::Table;

use super::Kind;
use super::entry::NumberRow;

/// Public documents by order, kind, what they are ordered by (as [`order_key`] says), and id.
pub const ORDERED: Table<(u8, u8, u64, String), NumberRow> = Table::new(0x8D);
/// The order by date in [`ORDERED`].
pub const BY_DATE: u8 = 0;
/// The order by views in [`ORDERED`].
pub const BY_VIEWS: u8 = 1;
/// The order by rating in [`ORDERED`].
pub const BY_RATING: u8 = 2;
/// The order by number of videos in [`ORDERED`].
pub const BY_VIDEOS: u8 = 3;
/// The order by title in [`ORDERED`].
pub const BY_TITLE: u8 = 4;
/// All orders in [`ORDERED`].
pub const ORDERS: [u8; 5] = [BY_DATE, BY_VIEWS, BY_RATING, BY_VIDEOS, BY_TITLE];

/// A key of [`ORDERED`].
pub type OrderKey = (u8, u8, u64, String);

/// The key of a document: what an order is by is a number of eight bytes, or, for titles, stands before the id.
#[must_use]
pub fn order_key(order: u8, kind: Kind, rank: &[u8], id: &str) -> OrderKey {
    match rank.try_into() {
        Ok(number) if order != BY_TITLE => {
            (order, kind as u8, u64::from_be_bytes(number), id.to_owned())
        }
        _ => {
            let title = String::from_utf8_lossy(rank);
            (order, kind as u8, 0, format!("{title}\0{id}"))
        }
    }
}

/// Rank and id in a key.
#[must_use]
pub fn rank_and_id((order, _, number, id): OrderKey) -> (Vec<u8>, String) {
    match id.rsplit_once('\0') {
        Some((title, id)) if order == BY_TITLE => (title.as_bytes().to_vec(), id.to_owned()),
        _ => (number.to_be_bytes().to_vec(), id),
    }
}

/// A signed number as one that sorts the same without a sign.
#[must_use]
pub const fn ascending(number: i64) -> u64 {
    number.cast_unsigned() ^ 1 << 63
}
