//! The head of a request: header fields, query parameters, dialect and place, and the grammars of their values.

pub mod arrival;
pub mod dialect;
pub mod encoded_word;
pub mod etag;
pub mod fields;
pub mod host;
pub mod location;
pub mod percent;
pub mod query;
pub mod range;
pub mod xml;
