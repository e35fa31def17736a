//! A page as an engine loads it.

use std::time::Duration;

use crate::engine::script::Script;
use crate::url::error_title;

/// A page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// Its title; `None` leaves the address.
    pub title: Option<String>,
    /// Its declared language.
    pub language: Option<String>,
    /// Its icon.
    pub icon: Option<String>,
    /// HTTP status; 204 is no page.
    pub status: u16,
    /// True if a tab that comes back to it may show it as it came.
    pub is_cached: bool,
    /// True if it is no page but a file that is kept.
    pub is_download: bool,
    /// The address that it redirects to.
    pub location: Option<String>,
    /// The time that its first byte takes.
    pub head_delay: Duration,
    /// The time that its last byte takes after that.
    pub body_delay: Duration,
    /// Its script, and the time after the commit at which it runs.
    pub script: Option<(Duration, Script)>,
    /// Its text, as far as its language is to be told from it.
    pub text: Option<String>,
    /// The addresses of the frames in it, relative to its own.
    pub frames: Vec<String>,
}

impl Page {
    /// True for the browser's own page in place of one that could not be loaded.
    #[must_use]
    pub const fn is_error(&self) -> bool {
        self.status == 0
    }

    /// The page that stands in place of one that could not be loaded.
    pub(super) fn failed(url: &str) -> Self {
        Self { title: Some(error_title(url)), ..Self::default() }
    }

    /// A page without anything in it.
    pub(super) fn empty() -> Self {
        Self { status: 200, ..Self::default() }
    }

    /// The source of this page, which comes as it does. An error is shown as it is.
    pub(super) fn source(self) -> Self {
        if self.is_error() {
            return self;
        }
        let Self { status, is_cached, head_delay, body_delay, .. } = self;
        Self { status, is_cached, head_delay, body_delay, ..Self::default() }
    }
}
