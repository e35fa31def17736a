//! The bodies that answers are read from: what is replaced or deleted meanwhile stays until the last of them is done.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::store::part_list::BodyName;

/// The readers of each body that has any.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenBodies(Arc<Mutex<HashMap<BodyName, usize>>>);

/// A body that is kept for a reader, as long as this lives.
#[derive(Debug)]
pub(super) struct OpenBody {
    all: OpenBodies,
    name: BodyName,
}

impl OpenBodies {
    /// Keeps a body for one more reader.
    pub(super) fn open(&self, name: BodyName) -> OpenBody {
        let mut readers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *readers.entry(name).or_default() += 1;
        OpenBody { all: self.clone(), name }
    }

    /// Tells whether somebody reads a body.
    pub(super) fn is_open(&self, name: BodyName) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&name)
    }
}

impl Drop for OpenBody {
    fn drop(&mut self) {
        let mut readers = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = readers.get(&self.name).map_or(0, |count| count.saturating_sub(1));
        match left {
            0 => readers.remove(&self.name),
            _ => readers.insert(self.name, left),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_open_until_its_last_reader_is_done() {
        let all = OpenBodies::default();
        let first = all.open(BodyName::List(1));
        let second = all.open(BodyName::List(1));
        drop(first);
        assert!(all.is_open(BodyName::List(1)) && !all.is_open(BodyName::List(2)));
        drop(second);
        assert!(!all.is_open(BodyName::List(1)));
    }
}
