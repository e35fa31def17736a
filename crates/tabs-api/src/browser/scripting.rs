//! Scripts and style sheets that extensions put into pages, and the frames that these may be put into.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::browser::content_scripts::{document_id, frames};
use crate::browser::pause::Pause;
use crate::browser::tab::Tab;
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::extension::permission::{Extension, is_gallery};
use crate::id::TabId;
use crate::url::SOURCE;

/// The pauses that a script waits for, and those that a style sheet does: a frozen page takes one.
const PAUSES_OF_SCRIPTS: [Pause; 4] = [Pause::Alert, Pause::Frozen, Pause::Coming, Pause::Source];
const PAUSES_OF_CSS: [Pause; 3] = [Pause::Alert, Pause::Coming, Pause::Source];

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

/// Code or files that are put into frames.
#[derive(Debug, Clone)]
pub(crate) enum Injected {
    /// A script of these files, or a function without any.
    Script(Vec<String>),
    /// A style sheet, which is put in or taken out again.
    StyleSheet,
}

/// Something that an extension puts into frames of a tab.
#[derive(Debug)]
pub(super) struct Injection {
    extension: String,
    pub(super) tab: TabId,
    frames: BTreeSet<u32>,
    what: Injected,
}

impl Injection {
    /// The pauses of its page that it waits for.
    pub(super) const fn pauses(&self) -> &'static [Pause] {
        match self.what {
            Injected::Script(_) => &PAUSES_OF_SCRIPTS,
            Injected::StyleSheet => &PAUSES_OF_CSS,
        }
    }

    /// The first of its frames.
    pub(super) fn first_frame(&self) -> u32 {
        self.frames.first().copied().unwrap_or_default()
    }
}

impl Browser {
    /// Puts something into frames, for an extension that names them. A page that is paused, or on its way, takes it once it runs.
    ///
    /// # Errors
    /// As [`Self::frames_to_inject`].
    pub(crate) fn inject(
        &mut self,
        extension: &str,
        target: &Target<'_>,
        what: Injected,
    ) -> Result<Answer, Error> {
        let frames = self.frames_to_inject(extension, target)?;
        let injection =
            Injection { extension: extension.to_owned(), tab: target.tab, frames, what };
        if injection.frames.is_empty() {
            return Ok(self.put_in(&injection));
        }
        Ok(self.inject_in_page(injection))
    }

    /// The frames that an extension puts something into.
    ///
    /// # Errors
    /// `NoTabToInject`, `AllFramesAndSome`, `FramesAndDocuments`, `NoFrame`, `InvalidDocument`, `NoDocument`, then those of access.
    pub(crate) fn frames_to_inject(
        &self,
        extension: &str,
        target: &Target<'_>,
    ) -> Result<BTreeSet<u32>, Error> {
        let id = target.tab;
        let tab = self.strips.tab(id).ok_or(Error::NoTabToInject(id.0))?;
        let extension = self.extensions.get(extension).ok_or(Error::PageAccess)?;
        let named = match &target.frames {
            FrameChoice::AllAndSome => return Err(Error::AllFramesAndSome),
            FrameChoice::FramesAndDocuments => return Err(Error::FramesAndDocuments),
            FrameChoice::All => {
                // Frames within the page are passed over where they may not be accessed.
                check_frame(extension, tab, 0)?;
                let allowed = live_frames(tab).map(|(number, _)| number);
                return Ok(allowed.filter(|it| check_frame(extension, tab, *it).is_ok()).collect());
            }
            FrameChoice::Outermost => BTreeSet::from([0]),
            FrameChoice::Frames(numbers) => {
                let sorted: BTreeSet<_> = numbers.iter().copied().collect();
                let of = |number: i64| {
                    let is_it = |known: &u32| i64::from(*known) == number;
                    let known = live_frames(tab).map(|(known, _)| known).find(is_it);
                    known.ok_or(Error::NoFrame { frame: number, tab: id.0 })
                };
                sorted.into_iter().map(of).collect::<Result<_, _>>()?
            }
            FrameChoice::Documents(documents) => {
                let of = |document: &&str| frame_of_document(tab, document);
                documents.iter().map(of).collect::<Result<_, _>>()?
            }
        };
        named.iter().try_for_each(|number| check_frame(extension, tab, *number))?;
        Ok(named)
    }

    /// Refuses what waited for a page that the extension may not access. The page itself says so, and by its address whichever it is.
    ///
    /// # Errors
    /// `FrameRemoved`, `NoAccess`, `PageAccess`.
    pub(super) fn check_frames(&self, injection: &Injection) -> Result<(), Error> {
        let gone = Error::FrameRemoved(injection.first_frame());
        let tab = self.strips.tab(injection.tab).ok_or(gone)?;
        let extension = self.extensions.get(&injection.extension).ok_or(Error::PageAccess)?;
        let refused = injection.frames.iter().find_map(|number| {
            let url = address(tab, *number);
            (!may_access(extension, tab, &url)).then(|| extension.no_access(&url))
        });
        refused.map_or(Ok(()), Err)
    }

    /// Puts something into frames of a page that runs. The files of a script listen there from now on, as long as their document is there.
    pub(super) fn put_in(&mut self, injection: &Injection) -> Answer {
        let Injected::Script(files) = &injection.what else { return Answer::Undefined };
        let Some(tab) = self.strips.tab_mut(injection.tab) else { return Answer::Undefined };
        for number in injection.frames.iter().filter(|_| !files.is_empty()) {
            let key = (injection.extension.clone(), *number);
            tab.document.injected.entry(key).or_default().extend(files.iter().cloned());
        }
        let result = |number: &u32| json!({ "documentId": document_id(tab, *number), "frameId": number, "result": null });
        Answer::Value(Value::Array(injection.frames.iter().map(result).collect()))
    }
}

/// The frames of the page that a tab shows. One whose page has not come shows none but the outermost, without an address.
fn live_frames(tab: &Tab) -> impl Iterator<Item = (u32, &str)> {
    let shown = if tab.is_fresh { 1 } else { usize::MAX };
    frames(tab).take(shown).map(|(number, url)| (number, if tab.is_fresh { "" } else { url }))
}

/// The frame that shows the document of this id.
fn frame_of_document(tab: &Tab, document: &str) -> Result<u32, Error> {
    let named = document_number(document).ok_or_else(|| Error::InvalidDocument(document.into()))?;
    let is_it = |number: &u32| document_number(&document_id(tab, *number)) == Some(named);
    let mut shown = live_frames(tab).map(|(number, _)| number);
    shown
        .find(is_it)
        .ok_or_else(|| Error::NoDocument { document: document.to_owned(), tab: tab.id.0 })
}

/// The two numbers that the id of a document is made of, each read as the browser reads one of base 16; both at nought are no id.
fn document_number(document: &str) -> Option<(u64, u64)> {
    let read = |half: &str| {
        let digits = half.strip_prefix('+').unwrap_or(half);
        let digits = digits.strip_prefix("0x").or(digits.strip_prefix("0X")).unwrap_or(digits);
        let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_number.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
    };
    let (high, low) = document.split_at_checked(16).filter(|(_, low)| low.len() == 16)?;
    Some((read(high)?, read(low)?)).filter(|number| *number != (0, 0))
}

/// Refuses a frame that the extension may not put anything into.
fn check_frame(extension: &Extension, tab: &Tab, number: u32) -> Result<(), Error> {
    if tab.is_fresh {
        return may_inject_to_come(extension, tab);
    }
    may_inject(extension, tab, &address(tab, number))?;
    // The error of a page within is another frame's.
    let is_error = tab.shows_error && number == 0;
    if is_error { Err(Error::ErrorPage(number)) } else { Ok(()) }
}

/// The address by which a frame is accessed: a blank one is of its origin, and the source of a page is of that page.
fn address(tab: &Tab, number: u32) -> Cow<'_, str> {
    let url = frames(tab).find(|(known, _)| *known == number).map_or("", |(_, url)| url);
    if url.starts_with("about:") {
        return Cow::Owned(tab.origin().to_string());
    }
    Cow::Borrowed(url.strip_prefix(SOURCE).unwrap_or(url))
}

/// Refuses a tab whose page has not come: by where it goes, if anywhere. Where no host counts, the page decides as it comes.
fn may_inject_to_come(extension: &Extension, tab: &Tab) -> Result<(), Error> {
    let pending = tab.pending.as_ref().ok_or(Error::PageAccess)?;
    if pending.url.starts_with("http") && !extension.may_read(tab.id.0, &pending.url) {
        return Err(Error::PageAccess);
    }
    Ok(())
}

/// Refuses an address that the extension may not put anything into.
fn may_inject(extension: &Extension, tab: &Tab, url: &str) -> Result<(), Error> {
    if is_gallery(url) {
        return Err(Error::Gallery);
    }
    if is_of_extension(url) && !extension.owns(url) {
        return Err(Error::OtherExtension);
    }
    if may_access(extension, tab, url) {
        return Ok(());
    }
    Err(if url.starts_with("chrome://") { Error::BrowserPage } else { extension.no_access(url) })
}

/// True if hosts or an invocation cover an address. Hosts are pages of the web: not even the extension's own are among them.
fn may_access(extension: &Extension, tab: &Tab, url: &str) -> bool {
    !is_gallery(url) && !is_of_extension(url) && extension.may_read(tab.id.0, url)
}

fn is_of_extension(url: &str) -> bool {
    url.starts_with("chrome-extension://")
}
