//! The whole service without a socket: requests as bytes in, answers out, on stores in memory and on disk.
#![cfg(feature = "server")]
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod activities;
mod authority;
mod bodies;
mod captions;
mod changing_pages;
mod channel_sections;
mod closing;
mod closing_interleaved;
mod comments;
mod consent;
mod costs;
#[cfg(feature = "redb")]
mod crash_states;
mod deleted_pages;
mod deleting;
mod devices;
mod headers;
mod http;
mod interleaved;
mod localizations;
mod membership;
mod mended;
mod model;
mod operations;
mod owner_parts;
mod page;
mod page_tokens;
mod pages;
mod parameters;
mod parts;
mod places;
#[cfg(feature = "testing")]
mod player;
mod positions;
mod races;
mod reasons;
mod recorded;
mod refusals;
mod reports;
mod resources;
#[cfg(feature = "testing")]
mod round_trips;
mod rules;
mod schema;
mod search;
mod seed_file;
mod service;
mod specification;
mod subscriptions;
mod totals;
mod translator;
mod upload;
mod visibility;
