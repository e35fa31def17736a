//! Tables, and what changes in them: buckets, keys, versions, their listing, locks, tags and lifecycle rules.

pub mod access_point;
pub mod access_point_directory;
pub mod append;
pub mod bucket;
pub mod bucket_encryption;
pub mod bucket_plan;
pub mod bucket_setting;
pub mod commit;
pub mod delete;
pub mod delete_guard;
pub mod key;
pub mod lifecycle;
pub mod list;
pub mod lock;
pub mod lookup;
pub mod object_encryption;
pub mod open_upload;
pub mod part_cursor;
pub mod part_list;
pub mod precondition;
pub mod session_key;
pub mod tables;
pub mod tagging;
pub mod upload;
pub mod upload_list;
pub mod version;
