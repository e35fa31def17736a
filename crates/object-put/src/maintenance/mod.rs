//! Work beside the requests: the lifecycle worker, space given back, a check of the whole store, seed files.

pub mod archive;
pub mod ended_uploads;
pub mod garbage;
pub mod lifecycle_worker;
pub mod root_keys;
pub mod seed;
pub mod verify;
