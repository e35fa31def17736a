//! Rules that the repository keeps, each checked on its files without building them.

pub(crate) mod docstrings;
pub(crate) mod licences;
pub(crate) mod links;
pub(crate) mod purity;
