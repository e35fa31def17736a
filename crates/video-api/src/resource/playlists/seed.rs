//! The section of a seed file: playlists with their items.

use serde::Deserialize;
use serde_json::Value;
use triptych_core::id::{Ids, SeededIds};
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::record::PLAYLISTS;
use super::{patch, store};
use crate::api::error::Error;
use crate::record::id;
use crate::record::json_fields::Body;
use crate::record::stored::Stored;
use crate::resource::channels::record as channels;
use crate::resource::playlist_items::activity;
use crate::resource::playlist_items::order::Order;
use crate::resource::playlist_items::record::PlaylistItem;
use crate::seed::error::SeedError;
use crate::seed::section::{self, SectionReader, SeedSection, channel_of};

/// The sections.
pub(super) static SECTIONS: &[SeedSection] =
    &[SeedSection { name: "playlists", order: 60, fills_only: true, read }];

fn read(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    let mut ids = SeededIds::from_seed(reader.digest);
    for (place, mut seed) in reader.things::<SeedPlaylist>()? {
        let id = seed.id.get_or_insert_with(|| id::playlist(&mut ids)).clone();
        reader.names.take("playlist", &id, &place, ".id")?;
        let items = std::mem::take(&mut seed.items);
        reader.step(place.clone(), move |tx, now, _| playlist(tx, &seed, now));
        for (at, video) in items.into_iter().enumerate() {
            let id = id.clone();
            reader.step(format!("{place}.items[{at}]"), move |tx, now, ids| {
                item(tx, &id, &video, now, ids)
            });
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedPlaylist {
    id: Option<String>,
    owner: String,
    published_at: Option<String>,
    snippet: Value,
    status: Option<Value>,
    localizations: Option<Value>,
    #[serde(default)]
    items: Vec<String>,
}

fn playlist(tx: &mut Tx<'_>, seed: &SeedPlaylist, now: Timestamp) -> Result<bool, Error> {
    let id = seed.id.clone().unwrap_or_default();
    if PLAYLISTS.get(tx, &id)?.is_some() {
        return Ok(false);
    }
    if !id::is_made_playlist(&id) {
        return Err(Error::InvalidField {
            path: "id".into(),
            expected: "letters, digits, - and _, and not UU, LL, HL, WL or FL at the beginning, as special playlists have it",
        });
    }
    let owner = channel_of(tx, &seed.owner, "owner")?;
    let title = channels::title(tx, &owner)?;
    let published = section::published(seed.published_at.as_deref(), Some(&seed.snippet), now)?;
    let mut made = Stored::made(owner, published);
    let given = [
        ("snippet", Some(&seed.snippet)),
        ("status", seed.status.as_ref()),
        ("localizations", seed.localizations.as_ref()),
    ];
    let (body, parts) = section::body("Playlist", &given)?;
    patch::write(&mut made, &title, Body::of(&body), &parts)?;
    store::insert(tx, &id, &made)?;
    Ok(true)
}

fn item(
    tx: &mut Tx<'_>,
    playlist: &str,
    video: &str,
    now: Timestamp,
    ids: &mut dyn Ids,
) -> Result<bool, Error> {
    let item = PlaylistItem {
        video: video.to_owned(),
        added: now,
        chunk: 0,
        note: None,
        start_at: None,
        end_at: None,
    };
    let owner = PLAYLISTS.get(tx, &playlist.to_owned())?.map(|found| found.head.channel.clone());
    let (number, _) = Order::load(tx, playlist)?.insert(tx, ids, None, item.clone())?;
    if let Some(owner) = owner {
        activity::added(tx, playlist, &owner, number, &item)?;
    }
    Ok(true)
}
