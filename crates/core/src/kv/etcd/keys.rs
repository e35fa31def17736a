//! The keys of a service in the cluster: rows, ids of batches and facts, each below a part of their own.

/// The keys below one schema.
pub(super) struct Keys {
    rows: Vec<u8>,
    batches: Vec<u8>,
    facts: String,
}

/// Tells whether a text can be the first part of keys: none such begins another.
pub(super) fn is_schema(name: &str) -> bool {
    name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        && name.starts_with(|first: char| first.is_ascii_lowercase())
}

impl Keys {
    /// The keys of a service.
    pub(super) fn below(schema: &str) -> Self {
        Self {
            rows: format!("{schema}/rows/").into_bytes(),
            batches: format!("{schema}/batches/").into_bytes(),
            facts: format!("{schema}/facts/"),
        }
    }

    /// The key of a row.
    pub(super) fn row(&self, key: &[u8]) -> Vec<u8> {
        [&self.rows, key].concat()
    }

    /// The least key after those of all rows.
    pub(super) fn past_rows(&self) -> Vec<u8> {
        let mut past = self.rows.clone();
        // The sign after the slash.
        past.pop();
        past.push(b'/' + 1);
        past
    }

    /// The service's own key of a row.
    pub(super) fn own<'k>(&self, key: &'k [u8]) -> Option<&'k [u8]> {
        key.strip_prefix(self.rows.as_slice())
    }

    /// The key of a batch's id.
    pub(super) fn batch(&self, id: &[u8; 16]) -> Vec<u8> {
        [&self.batches, id.as_slice()].concat()
    }

    /// The key of a fact.
    pub(super) fn fact(&self, name: &str) -> Vec<u8> {
        format!("{}{name}", self.facts).into_bytes()
    }
}
