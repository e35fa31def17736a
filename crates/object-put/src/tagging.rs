//! Tags of objects and buckets: the header grammar, the XML form and the rules for both.

use serde::{Deserialize, Serialize};

/// A set of tags, in the order they were given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tags(pub Vec<(String, String)>);
