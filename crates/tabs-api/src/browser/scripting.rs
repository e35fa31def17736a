//! The frames that scripts and style sheets may be put into.

use crate::browser::Browser;
use crate::browser::content_scripts::{document_id, frames};
use crate::browser::tab::Tab;
use crate::error::Error;
use crate::extension::permission::{Extension, is_gallery};
use crate::id::TabId;

/// The frames that an injection names.
#[derive(Debug, Clone)]
pub(crate) enum FrameChoice<'c> {
    /// The outermost one.
    Outermost,
    /// Every one that the extension may access.
    All,
    /// Those of these numbers.
    Frames(Vec<i64>),
    /// Those that show these documents.
    Documents(Vec<&'c str>),
    /// All, and some by name: refused.
    AllAndSome,
    /// Some by number and some by document: refused.
    FramesAndDocuments,
}

/// The tab and the frames of an injection.
#[derive(Debug, Clone)]
pub(crate) struct Target<'c> {
    pub(crate) tab: TabId,
    pub(crate) frames: FrameChoice<'c>,
}

impl Browser {
    /// The frames, with their documents, that an extension puts something into.
    ///
    /// # Errors
    /// `NoTabToInject`, `AllFramesAndSome`, `FramesAndDocuments`, `NoFrame`, `InvalidDocument`, `NoDocument`, then those of access.
    pub(crate) fn frames_to_inject(
        &self,
        extension: &str,
        target: &Target<'_>,
    ) -> Result<Vec<(u32, String)>, Error> {
        let id = target.tab;
        let tab = self.strips().tab(id).ok_or(Error::NoTabToInject(id.0))?;
        let extension = self.extensions.get(extension).ok_or(Error::PageAccess)?;
        let check = |(number, url): &(u32, &str)| {
            may_inject(extension, tab, url)?;
            // The error of a page within is another frame's.
            let is_error = tab.shows_error && *number == 0;
            if is_error { Err(Error::ErrorPage(*number)) } else { Ok(()) }
        };
        let with_document = |(number, _): (u32, &str)| (number, document_id(tab, number));
        let named = match &target.frames {
            FrameChoice::AllAndSome => return Err(Error::AllFramesAndSome),
            FrameChoice::FramesAndDocuments => return Err(Error::FramesAndDocuments),
            FrameChoice::All => {
                // Frames within the page are passed over where they may not be accessed.
                let outermost = frames(tab).take(1).try_for_each(|frame| check(&frame));
                outermost?;
                let allowed = frames(tab).filter(|frame| check(frame).is_ok());
                return Ok(allowed.map(with_document).collect());
            }
            FrameChoice::Outermost => frames(tab).take(1).collect(),
            FrameChoice::Frames(numbers) => {
                let mut numbers: Vec<_> = numbers.clone();
                numbers.sort_unstable();
                numbers.dedup();
                let of = |number: i64| {
                    frames(tab)
                        .find(|(known, _)| i64::from(*known) == number)
                        .ok_or(Error::NoFrame { frame: number, tab: id.0 })
                };
                numbers.into_iter().map(of).collect::<Result<Vec<_>, _>>()?
            }
            FrameChoice::Documents(documents) => {
                let of = |document: &&str| frame_of_document(tab, document);
                documents.iter().map(of).collect::<Result<Vec<_>, _>>()?
            }
        };
        named.iter().try_for_each(check)?;
        Ok(named.into_iter().map(with_document).collect())
    }
}

fn frame_of_document<'t>(tab: &'t Tab, document: &str) -> Result<(u32, &'t str), Error> {
    let is_one = document.len() == 32 && document.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !is_one {
        return Err(Error::InvalidDocument(document.to_owned()));
    }
    frames(tab)
        .find(|(number, _)| document_id(tab, *number) == *document)
        .ok_or_else(|| Error::NoDocument { document: document.to_owned(), tab: tab.id.0 })
}

/// Refuses a frame that the extension may not put anything into. An address that it may not see is not named.
fn may_inject(extension: &Extension, tab: &Tab, url: &str) -> Result<(), Error> {
    if tab.discarded || url.is_empty() {
        return Err(Error::PageAccess);
    }
    if is_gallery(url) {
        return Err(Error::Gallery);
    }
    if extension.may_read(tab.id.0, url) {
        return Ok(());
    }
    if url.starts_with("chrome://") {
        return Err(Error::BrowserPage);
    }
    Err(if extension.has_permission("tabs") {
        Error::NoAccess(url.to_owned())
    } else {
        Error::PageAccess
    })
}
