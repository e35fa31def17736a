//! Reads of rows by their keys that go in one statement: which go together, and what they find.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::failure::Failure;
use crate::kv::shared::Companions;
use crate::kv::{BATCH_OPERATIONS_MAX, Found};

/// Keys that are asked for.
pub(super) type Asked = Arc<[Bytes]>;
/// The rows that a statement found, among them those that others asked for.
pub(super) type Rows = Result<Arc<HashMap<Bytes, Found>>, Failure>;

/// Keys that go together: no more than one may ask for alone.
#[derive(Debug, Default)]
pub(super) struct Few {
    keys: usize,
}

impl Companions<Asked> for Few {
    fn take(&mut self, asked: &Asked) -> bool {
        let keys = self.keys + asked.len();
        if self.keys > 0 && keys > BATCH_OPERATIONS_MAX {
            return false;
        }
        self.keys = keys;
        true
    }
}
