//! The resources: operations, records and rules of each.

pub mod absent;
pub mod categories;
pub mod channel_banners;
pub mod channels;
pub mod i18n;
pub mod playlist_items;
pub mod playlists;
pub mod search;
pub mod search_document;
pub mod thumbnails;
pub mod videos;
pub mod watermarks;
