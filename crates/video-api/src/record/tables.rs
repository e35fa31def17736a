//! Every table of this service, by the first byte of its keys. Each is named once, here.

use bytes::Bytes;
use triptych_core::kv::Table;

use crate::account::{Account, KeyRow, TokenRow};
use crate::api::quota::{Project, Used};
use crate::record::counter::Count;
use crate::record::stored::Stored;
use crate::resource::channels::record::{Channel, ChannelCounts, Id};
use crate::resource::playlist_items::record::{Chunk, Directory, ListedItem, PlaylistItem};
use crate::resource::playlists::record::Playlist;
use crate::resource::videos::record::{Rating, Video, VideoCounts};
use crate::resource::videos::render::ListedVideo;
use crate::seed::Progress;

// People.
/// Accounts by their id.
pub const ACCOUNTS: Table<String, Account> = Table::new(0x01);
/// Tokens by their digest.
pub const TOKENS: Table<[u8; 32], TokenRow> = Table::new(0x02);
/// API keys by their digest.
pub const KEYS: Table<[u8; 32], KeyRow> = Table::new(0x03);
/// Projects by their id.
pub const PROJECTS: Table<String, Project> = Table::new(0x04);
/// What a project used on a day (days since 1970, Pacific Time).
pub const QUOTA: Table<(String, u32), Used> = Table::new(0x05);
/// How far a seed file is applied, while it is.
pub const SEEDING: Table<(), Progress> = Table::new(0x06);

// Channels.
/// Channels by their id.
pub const CHANNELS: Table<String, Stored<Channel>> = Table::new(0x10);
/// What is counted of a channel.
pub const CHANNEL_COUNTS: Table<String, ChannelCounts> = Table::new(0x11);
/// Channels by their handle, in lower case and without @.
pub const HANDLES: Table<String, Id> = Table::new(0x12);
/// Channels by the user name of old.
pub const USERNAMES: Table<String, Id> = Table::new(0x13);
/// Channels by guide category.
pub const CATEGORY_CHANNELS: Table<(String, String), ()> = Table::new(0x14);
/// Uploaded banners by their id: whose they are.
pub const BANNERS: Table<String, Id> = Table::new(0x15);
/// Watermarks by their channel: the resource as text.
pub const WATERMARKS: Table<String, Bytes> = Table::new(0x16);

// Videos.
/// Videos by their id.
pub const VIDEOS: Table<String, Stored<Video>> = Table::new(0x20);
/// The same, as lists read them.
pub const LISTED_VIDEOS: Table<String, ListedVideo> = Table::new(0x20);
/// What is counted of a video.
pub const VIDEO_COUNTS: Table<String, VideoCounts> = Table::new(0x21);
/// Videos by channel, audience (0 everyone, 1 the owner) and time, latest first.
pub const UPLOADS: Table<(String, u8, u64, String), ()> = Table::new(0x22);
/// Public videos by category (`0` for all) and views, most first.
pub const CHART: Table<(String, u64, String), ()> = Table::new(0x23);
/// Private videos that become public, by when.
pub const SCHEDULE: Table<(u64, String), ()> = Table::new(0x24);
/// What an account thinks of a video: channel of the account, video.
pub const RATINGS: Table<(String, String), Rating> = Table::new(0x25);
/// Rated videos of an account by rating (1 like, 2 dislike) and time, latest first.
pub const RATED: Table<(String, u8, u64, String), ()> = Table::new(0x26);
/// How many videos an account has rated so.
pub const RATED_COUNT: Table<(String, u8), Count> = Table::new(0x27);
/// What an account watched, by time, latest first; the last part tells two plays of one moment apart.
pub const HISTORY: Table<(String, u64, u64, String), ()> = Table::new(0x28);
/// How many entries an account's history has.
pub const HISTORY_COUNT: Table<String, Count> = Table::new(0x29);

// Playlists.
/// Playlists by their id.
pub const PLAYLISTS: Table<String, Stored<Playlist>> = Table::new(0x30);
/// Playlists by channel, audience (0 everyone, 1 the owner) and time, latest first.
pub const CHANNEL_PLAYLISTS: Table<(String, u8, u64, String), ()> = Table::new(0x31);
/// How many playlists a channel has, by audience.
pub const PLAYLIST_COUNT: Table<(String, u8), Count> = Table::new(0x32);
/// Which chunks a playlist's order has.
pub const ORDER: Table<String, Directory> = Table::new(0x33);
/// Chunks of item ids.
pub const CHUNKS: Table<(String, u32), Chunk> = Table::new(0x34);
/// Items by playlist and number.
pub const ITEMS: Table<(String, u64), PlaylistItem> = Table::new(0x35);
/// The same, as lists read them.
pub const LISTED_ITEMS: Table<(String, u64), ListedItem> = Table::new(0x35);
/// Items of a playlist by their video.
pub const ITEMS_OF_VIDEO: Table<(String, String, u64), ()> = Table::new(0x36);
/// Playlists that are gone and whose rows are yet to be removed.
pub const PLAYLIST_GARBAGE: Table<String, ()> = Table::new(0x37);

// Uploads, pictures and search: numbers alone, because their tables stand beside their records.
/// Open and finished upload sessions by their id.
pub const UPLOAD_SESSIONS: u8 = 0x80;
/// Metadata and final answers of upload sessions, in slices.
pub const UPLOAD_TEXTS: u8 = 0x81;
/// Upload sessions by the time they were opened, for expiry.
pub const UPLOAD_AGES: u8 = 0x82;
/// Pieces of uploaded bodies.
pub const MEDIA_PIECES: u8 = 0x83;
/// Uploaded bodies that no record names any more.
pub const MEDIA_GARBAGE: u8 = 0x84;
/// Rendered pictures.
pub const PICTURES: u8 = 0x85;
/// Blobs of pictures that were replaced.
pub const PICTURE_GARBAGE: u8 = 0x86;
/// What can be found, by kind and id.
pub const SEARCH_DOCUMENTS: u8 = 0x88;
/// What the search index has to follow.
pub const SEARCH_CHANGED: u8 = 0x89;
/// Documents of a word, in blocks.
pub const SEARCH_POSTINGS: u8 = 0x8A;
/// Documents of the search index, by number.
pub const SEARCH_ENTRIES: u8 = 0x8B;
/// Numbers of the search index, by kind and id.
pub const SEARCH_NUMBERS: u8 = 0x8C;
/// Public documents in order of date and of views.
pub const SEARCH_ORDERED: u8 = 0x8D;
/// What is known of all documents together.
pub const SEARCH_TOTALS: u8 = 0x8E;
/// What queries need of documents at first sight, by number.
pub const SEARCH_SUMMARIES: u8 = 0x8F;
/// OAuth clients by their id.
pub const OAUTH_CLIENTS: u8 = 0x90;
/// Service accounts by their address.
pub const OAUTH_SERVICE_ACCOUNTS: u8 = 0x91;
/// Grants by their id.
pub const OAUTH_GRANTS: u8 = 0x92;
/// Codes and tokens of grants by their digest.
pub const OAUTH_SECRETS: u8 = 0x93;
/// Digests of the codes and tokens of a grant.
pub const OAUTH_SECRETS_OF: u8 = 0x94;
/// The secret of the key that signs identity tokens.
pub const OAUTH_IDENTITY: u8 = 0x95;
