//! The interface: rows of operations, the checks of a request by its row, and the form of replies.

pub mod byte_range;
pub mod callback;
pub mod country;
pub mod discovery;
pub mod error;
pub mod fields;
pub mod html;
pub mod id_list;
pub mod language;
pub mod merge;
pub mod operation;
pub mod page_token;
pub mod paginate;
pub mod parameter;
pub mod quota;
pub mod response;
pub mod schema;
pub mod snippet_list;
pub mod validate;
