//! The section of a seed file: favourites.

use serde::Deserialize;
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::activity;
use super::order::Order;
use super::record::{ITEMS_OF_VIDEO, PlaylistItem};
use crate::api::error::Error;
use crate::record::id::SystemPlaylist;
use crate::resource::videos::record::VIDEOS;
use crate::seed::error::SeedError;
use crate::seed::section::{SectionReader, SeedSection, channel_of, moment};

/// The sections.
pub(super) static SECTIONS: &[SeedSection] =
    &[SeedSection { name: "favorites", order: 90, fills_only: true, read }];

fn read(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    for (place, seed) in reader.things::<SeedFavorite>()? {
        reader.step(place, move |tx, now, ids| favorite(tx, &seed, now, ids));
    }
    Ok(())
}

/// A favourite video of an account.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedFavorite {
    account: String,
    video: String,
    at: Option<String>,
}

fn favorite(
    tx: &mut Tx<'_>,
    seed: &SeedFavorite,
    now: Timestamp,
    ids: &mut dyn Ids,
) -> Result<bool, Error> {
    let owner = channel_of(tx, &seed.account, "account")?;
    let playlist = SystemPlaylist::Favorites.of(&owner);
    VIDEOS
        .peek(tx, &seed.video)?
        .ok_or_else(|| Error::InvalidField { path: "video".into(), expected: "a video" })?;
    let held = ITEMS_OF_VIDEO.span(&(playlist.clone(), seed.video.clone()));
    if !ITEMS_OF_VIDEO.scan(tx, &held, 1)?.0.is_empty() {
        return Err(Error::InvalidField {
            path: "video".into(),
            expected: "a video that is no favourite of the account yet",
        });
    }
    let item = PlaylistItem {
        video: seed.video.clone(),
        added: moment("at", seed.at.as_deref(), now)?,
        chunk: 0,
        note: None,
        start_at: None,
        end_at: None,
    };
    let (number, _) = Order::load(tx, &playlist)?.insert(tx, ids, None, item.clone())?;
    activity::added(tx, &playlist, &owner, number, &item)?;
    Ok(true)
}
