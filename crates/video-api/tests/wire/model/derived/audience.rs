//! The same of what is between channels: subscriptions, sections, tracks, favourites and members.

use std::collections::{BTreeMap, BTreeSet};

use triptych_core::kv::Tx;
use video_api::record::closing::CLOSING;
use video_api::record::id::{self, PlaylistName, SystemPlaylist};
use video_api::record::key_order::latest_first;
use video_api::resource::activities::record::{ACTIVITIES, Event, Thing};
use video_api::resource::captions::record::{
    CAPTION_COUNTS, CAPTION_NAMES, CAPTIONS, VIDEO_CAPTIONS,
};
use video_api::resource::channel_sections::record::{SECTION_ORDER, SECTIONS, SECTIONS_NAMING};
use video_api::resource::channels::record::{CHANNEL_COUNTS, CHANNELS};
use video_api::resource::members::record::{
    ANY_LEVEL, MEMBER_COUNT, MEMBER_UPDATES, MEMBERS, MEMBERS_BY_LEVEL,
};
use video_api::resource::playlist_items::record::ITEMS;
use video_api::resource::subscriptions::record::{
    PRIVATE_SUBSCRIBERS, PUBLISHER_COUNT, PUBLISHERS_BY_TIME, PUBLISHERS_BY_TITLE,
    SUBSCRIBER_COUNT, SUBSCRIBERS_BY_TIME, SUBSCRIBERS_BY_TITLE, SUBSCRIPTION_IDS, SUBSCRIPTIONS,
};
use video_api::resource::videos::record::{VIDEO_COUNTS, VIDEOS};

use super::{all, counted, counts, keys, same};

pub(super) fn check(tx: &mut Tx<'_>) {
    subscriptions(tx);
    sections(tx);
    captions(tx);
    favorites(tx);
    members(tx);
    same(0, all(tx, &CLOSING).len(), "channels that are closing");
}

fn subscriptions(tx: &mut Tx<'_>) {
    let channels = all(tx, &CHANNELS);
    let title = |id: &str| channels[id].head.title.to_lowercase();
    let (mut by_time, mut by_title) = (BTreeSet::new(), BTreeSet::new());
    let (mut subscribers, mut titled) = (BTreeSet::new(), BTreeSet::new());
    let (mut hidden, mut ids, mut all_of) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
    for ((subscriber, publisher), row) in all(tx, &SUBSCRIPTIONS) {
        let time = latest_first(row.since.micros());
        by_time.insert((subscriber.clone(), time, publisher.clone()));
        by_title.insert((subscriber.clone(), title(&publisher), publisher.clone()));
        if row.is_private {
            hidden.insert((publisher.clone(), subscriber.clone()));
        } else {
            subscribers.insert((publisher.clone(), time, subscriber.clone()));
            titled.insert((publisher.clone(), title(&subscriber), subscriber.clone()));
        }
        all_of.push(publisher.clone());
        ids.insert(row.id, (subscriber, publisher));
    }
    let own = counted(by_time.iter().map(|(subscriber, ..)| subscriber.clone()));
    same(own, counts(tx, &PUBLISHER_COUNT), "counts of publishers");
    let shown = counted(subscribers.iter().map(|(publisher, ..)| publisher.clone()));
    same(shown, counts(tx, &SUBSCRIBER_COUNT), "counts of subscribers");
    same(by_time, keys(tx, &PUBLISHERS_BY_TIME), "publishers by time");
    same(by_title, keys(tx, &PUBLISHERS_BY_TITLE), "publishers by title");
    same(subscribers, keys(tx, &SUBSCRIBERS_BY_TIME), "subscribers by time");
    same(titled, keys(tx, &SUBSCRIBERS_BY_TITLE), "subscribers by title");
    same(hidden, keys(tx, &PRIVATE_SUBSCRIBERS), "private subscribers");
    let stored = all(tx, &SUBSCRIPTION_IDS).into_iter().map(|(id, parties)| (id, parties.key()));
    same(ids, stored.collect(), "ids of subscriptions");
    let stored = all(tx, &CHANNEL_COUNTS).into_iter().map(|(id, counts)| (id, counts.subscribers));
    let stored: BTreeMap<_, _> = stored.filter(|(_, count)| *count > 0).collect();
    same(counted(all_of.into_iter()), stored, "subscribers of channels");
}

fn sections(tx: &mut Tx<'_>) {
    let sections = all(tx, &SECTIONS);
    let order = all(tx, &SECTION_ORDER).into_iter();
    let ordered: BTreeMap<_, _> = order
        .flat_map(|(channel, order)| order.0.into_iter().map(move |id| (id, channel.clone())))
        .collect();
    let own = sections.iter().map(|(id, section)| (id.clone(), section.channel.clone()));
    same(own.collect(), ordered, "orders of sections");
    let (mut naming, mut added) = (BTreeSet::new(), BTreeSet::new());
    for (id, section) in &sections {
        for name in section.playlists.iter().chain(&section.channels) {
            naming.insert((name.clone(), id.clone()));
        }
        let playlists = section.playlists.iter().cloned();
        let playlists = playlists
            .filter(|list| matches!(id::playlist_name(list, None), PlaylistName::Made(_)))
            .map(Thing::Playlist);
        for thing in playlists.chain(section.channels.iter().cloned().map(Thing::Channel)) {
            let event = Event::ChannelItem(thing);
            added.insert((section.channel.clone(), event.id(&section.channel)));
        }
    }
    same(naming, keys(tx, &SECTIONS_NAMING), "sections by what they name");
    let noted = all(tx, &ACTIVITIES).into_iter();
    let noted = noted.filter(|(_, activity)| matches!(activity.event, Event::ChannelItem(_)));
    same(added, noted.map(|(key, _)| key).collect(), "activities of sections");
}

fn captions(tx: &mut Tx<'_>) {
    let (mut listed, mut names) = (BTreeSet::new(), BTreeMap::new());
    let mut totals = BTreeMap::<String, (u32, u32)>::new();
    for (id, caption) in all(tx, &CAPTIONS) {
        listed.insert((caption.video.clone(), id.clone()));
        names.insert(
            (caption.video.clone(), caption.language.to_lowercase(), caption.name.clone()),
            id,
        );
        let (tracks, serving) = totals.entry(caption.video.clone()).or_default();
        *tracks += 1;
        *serving += u32::from(caption.is_serving());
    }
    let stored = keys(tx, &VIDEO_CAPTIONS).into_iter().map(|(video, _, id)| (video, id));
    same(listed, stored.collect(), "tracks of videos");
    let stored = all(tx, &CAPTION_NAMES).into_iter().map(|(name, id)| (name, id.0));
    same(names, stored.collect(), "names of tracks");
    let captioned = all(tx, &VIDEOS).into_iter().filter(|(_, video)| video.head.has_captions);
    let serving = totals.iter().filter(|(_, (_, serving))| *serving > 0);
    let serving: BTreeSet<_> = serving.map(|(video, _)| video.clone()).collect();
    same(serving, captioned.map(|(id, _)| id).collect(), "videos with captions");
    let stored = all(tx, &CAPTION_COUNTS).into_iter();
    let stored = stored.map(|(video, counts)| (video, (counts.tracks, counts.serving)));
    let stored: BTreeMap<_, _> = stored.filter(|(_, (tracks, _))| *tracks > 0).collect();
    same(totals, stored, "counts of tracks");
}

fn favorites(tx: &mut Tx<'_>) {
    let videos = all(tx, &VIDEOS);
    let is_favorite = |list: &str| {
        matches!(id::playlist_name(list, None), PlaylistName::Special(SystemPlaylist::Favorites, _))
    };
    let items = all(tx, &ITEMS).into_iter();
    let favorites =
        items.filter(|((list, _), item)| is_favorite(list) && videos.contains_key(&item.video));
    let rebuilt = counted(favorites.map(|(_, item)| item.video));
    let stored = all(tx, &VIDEO_COUNTS).into_iter().map(|(id, counts)| (id, counts.favorites));
    same(rebuilt, stored.filter(|(_, count)| *count > 0).collect(), "counts of favourites");
}

fn members(tx: &mut Tx<'_>) {
    let (mut listed, mut updates) = (BTreeSet::new(), BTreeMap::new());
    for ((creator, member), membership) in all(tx, &MEMBERS) {
        if let Some(place) = membership.update {
            updates.insert((creator.clone(), place), member.clone());
        }
        let Some(since) = membership.time.since.filter(|_| membership.level.is_some()) else {
            continue;
        };
        let open = membership.levels.iter().filter(|(_, span)| span.since.is_some());
        for level in open.map(|(id, _)| id.as_str()).chain([ANY_LEVEL]) {
            let time = latest_first(since.micros());
            listed.insert((creator.clone(), level.to_owned(), time, member.clone()));
        }
    }
    let totals =
        counted(listed.iter().map(|(creator, level, ..)| (creator.clone(), level.clone())));
    same(totals, counts(tx, &MEMBER_COUNT), "counts of members");
    same(listed, keys(tx, &MEMBERS_BY_LEVEL), "members by level");
    let stored = all(tx, &MEMBER_UPDATES).into_iter().map(|(key, member)| (key, member.0));
    same(updates, stored.collect(), "updates of members");
}
