//! The page at `/_ui/`: a frame that all services share, in which each has views of its own.

pub(in crate::host) mod served;

/// A file of a page: its name with an ending that says its type (`js`, `css`, `svg`), and its text.
#[derive(Debug, Clone, Copy)]
pub struct PageFile {
    /// The name by which other files of the page import it.
    pub name: &'static str,
    /// The text.
    pub text: &'static str,
}

/// The page of a service. Its own files stand beside those of the frame, and `service.js` among them exports its views.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// The name of the service.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Its own files.
    pub files: &'static [PageFile],
}
