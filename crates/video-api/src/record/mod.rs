//! Storage forms that several resources share.

pub mod cascade;
pub mod closing;
pub mod counter;
pub mod id;
pub mod json_fields;
pub mod key_order;
pub mod localized;
pub mod privacy;
pub mod render_cache;
pub mod search_result;
pub mod stored;
pub mod table_entry;
pub mod thumbnail;
