//! TTML (`.ttml`, `.dfxp`): timed text in XML, in the profiles that exchange captions (1 and 2, and the drafts before them).
//!
//! Elements and attributes go by their local names, so that every namespace that the drafts had is read. A timed `span` becomes a cue
//! of its own, since that is when its text is shown. Documents with a type declaration or with entities of their own are refused.

mod attribute;
mod frame;
mod position;
mod read;
mod region;
mod style;
mod timing;
mod write;

pub use read::read;
pub use write::write;

#[cfg(test)]
mod tests;
