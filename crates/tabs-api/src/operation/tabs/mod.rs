//! The operations of `tabs`.

mod create_and_remove;
mod move_and_highlight;
mod query;
mod update;
