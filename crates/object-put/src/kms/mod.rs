//! Key-management keys: their names, their records, the data keys that they give, and the key service behind them.

pub mod administration;
pub mod bucket_key;
pub mod context;
pub mod json_protocol;
pub mod key;
pub mod key_manager;
pub mod key_name;
pub mod key_store;
