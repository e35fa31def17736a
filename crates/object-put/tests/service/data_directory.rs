//! A data directory that a test opens as the binary does.

use std::path::Path;

use triptych_core::host::flags::{Flags, Product};
use triptych_core::host::launch;
use triptych_core::host::storage::{self, Storage, StorageError};

use super::{NOW, World};

const PRODUCT: Product = Product {
    name: "object-put",
    version: "0",
    prefix: "OBJECT_PUT_TEST",
    port: 0,
    record_bytes_max: 65_536,
    is_row: object_put::maintenance::archive::is_row,
};

/// Opens its stores.
pub fn open(data: &Path) -> Result<Storage, StorageError> {
    let command = launch::command(&PRODUCT, "", |command| command);
    let data = data.display().to_string();
    let matches = command.get_matches_from(["object-put", "--data", data.as_str()]);
    storage::open(&Flags::from_matches(&PRODUCT, &matches))
}

/// A service on stores that were opened.
pub async fn world(stores: &Storage) -> World {
    World::on(stores.kv.clone(), stores.blobs.clone(), NOW).await
}
