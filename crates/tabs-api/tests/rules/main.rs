//! Rules of the browser that no recorded scenario shows alone, each driven through the lab as a scenario would be.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod bench;
mod captures;
mod freezing;
mod groups;
mod leaving;
mod navigation;
mod pages;
mod restored;
mod strip;
mod unrecorded;
mod windows;
