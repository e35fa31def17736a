//! Tickets: the right to play one video for a short while, also where nobody else sees it. A link that a page of this service makes carries one.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use triptych_core::id::Ids;
use triptych_core::kv::{JsonRecord, Table, Tx};
use triptych_core::time::Timestamp;

use crate::account;
use crate::api::error::Error;
use crate::resource::videos::record::VIDEOS;
use crate::resource::videos::rules;

/// Tickets by when they end, and their digest.
pub const TICKETS: Table<(u64, [u8; 32]), Ticket> = Table::new(0xA9);

/// A ticket lasts so long.
pub const LIFETIME: Duration = Duration::from_secs(600);

/// Tickets that are over, and that a new one clears away.
const EXPIRED_MAX: usize = 16;

/// The purpose of a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ticket(String);

impl JsonRecord for Ticket {}

/// Makes a ticket for a video: its end, and 160 random bits.
///
/// # Errors
/// [`rules::NOT_FOUND`].
pub fn issue(
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    video: &str,
    now: Timestamp,
) -> Result<String, Error> {
    VIDEOS.peek(tx, &video.to_owned())?.ok_or(&rules::NOT_FOUND)?;
    let (rows, _) = TICKETS.scan(tx, &TICKETS.span(&()), EXPIRED_MAX)?;
    for (key, _) in rows.iter().filter(|((end, _), _)| *end <= place(now)) {
        TICKETS.delete(tx, key);
    }
    let mut secret = [0; 20];
    ids.fill(&mut secret);
    let end = place(now.plus(LIFETIME));
    let ticket = format!("{end:x}-{}", hex::encode(secret));
    TICKETS.put(tx, &(end, account::digest(&ticket)), &Ticket(video.to_owned()));
    Ok(ticket)
}

/// Returns whether a ticket lets its bearer play a video now.
///
/// # Errors
/// As the store.
pub fn is_for(tx: &mut Tx<'_>, ticket: &str, video: &str, now: Timestamp) -> Result<bool, Error> {
    let end = ticket.split_once('-').and_then(|(end, _)| u64::from_str_radix(end, 16).ok());
    let Some(end) = end.filter(|end| *end > place(now)) else {
        return Ok(false);
    };
    let found = TICKETS.peek(tx, &(end, account::digest(ticket)))?;
    Ok(found.is_some_and(|Ticket(named)| named == video))
}

/// A moment as a part of a key.
fn place(moment: Timestamp) -> u64 {
    u64::try_from(moment.micros()).unwrap_or_default()
}
