//! Scripts of simulated pages as they run: what each does to its page, and what it asks of the browser.

use triptych_core::time::Timestamp;
use url::{ParseError, Url};

use super::{SimEngine, page_event};
use crate::engine::alert::Alert;
use crate::engine::script::Script;
use crate::engine::state_url::state_url;
use crate::engine::{Opening, PageEvent};
use crate::id::TabId;
use crate::url::{BLANK, parse};

/// The document that a script runs in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Document<'u> {
    pub(super) tab: TabId,
    pub(super) load: u64,
    pub(super) url: &'u str,
    /// The address that others in it are relative to.
    pub(super) base: &'u str,
}

impl SimEngine {
    /// Runs a script in its document; `is_gesture` is true where the user has just done something there.
    pub(super) fn run(
        &mut self,
        when: Timestamp,
        document: Document<'_>,
        script: &Script,
        is_gesture: bool,
    ) {
        let Document { tab, load, base, .. } = document;
        let mut alert = |accepted: &Option<Box<Script>>, refused: &Option<Box<Script>>| {
            let (accepted, refused) = (accepted.clone(), refused.clone());
            self.alerts.insert(tab, Alert { url: base.to_owned(), accepted, refused });
        };
        match script {
            Script::Alert(rest) => alert(rest, rest),
            Script::Ask { accepted, refused } => alert(accepted, refused),
            _ => {}
        }
        if let Some(event) = event_of(document, script, is_gesture) {
            self.at(when, page_event(tab, load, event));
        }
        if let Script::Play(length) = script {
            self.at(when.plus(*length), page_event(tab, load, PageEvent::Sounds(false)));
        }
    }
}

/// The event that tells the browser what a script does; `None` where it comes to nothing.
fn event_of(document: Document<'_>, script: &Script, is_gesture: bool) -> Option<PageEvent> {
    let Document { url, base, .. } = document;
    let join = |target: &str| join(base, target);
    Some(match script {
        // From a page without an address of its own a relative one leads nowhere.
        Script::Go(target) => PageEvent::Navigates(resolved(base, target)?),
        Script::Title(title) => PageEvent::Title(title.clone()),
        Script::Icon(target) => PageEvent::Icon(join(target)),
        Script::Push(target) => PageEvent::PushesState(state_url(url, base, target)?),
        Script::Replace(target) => PageEvent::Replaces(join(target)),
        Script::Reload => PageEvent::Reloads,
        Script::Traverse(steps) => PageEvent::Traverses(*steps),
        Script::ReplaceState(target) => PageEvent::ReplacesState(state_url(url, base, target)?),
        Script::Fragment(target) => PageEvent::SetsFragment(join(target)),
        Script::Frame(target) => PageEvent::FrameGoes(join(target)),
        Script::Listen(changes) => PageEvent::Listens(changes.clone()),
        Script::Close => PageEvent::Closes,
        Script::GoInOpener { url, replaces } => {
            PageEvent::SendsOpener { url: join(url), replaces: *replaces }
        }
        Script::CloseOpener => PageEvent::ClosesOpener,
        Script::InOpener(code) => PageEvent::RunsInOpener(code.clone()),
        Script::Name(name) => PageEvent::Names(name.clone()),
        // A page may not open another one by itself.
        Script::Open(_) | Script::OpenLink { .. } if !is_gesture => return None,
        Script::Open(opening) => PageEvent::Opens(at_base(base, opening)?),
        Script::OpenAndClose(opening) => {
            let opening = at_base(base, opening)?;
            PageEvent::OpensAndCloses { opening, is_blocked: !is_gesture }
        }
        Script::OpenLink { url, is_in_window } => {
            PageEvent::OpensLink { url: resolved(base, url)?, is_in_window: *is_in_window }
        }
        Script::Alert(_) | Script::Ask { .. } => PageEvent::Alerts,
        Script::Play(_) => PageEvent::Sounds(true),
    })
}

/// An address that a page names, relative to its own; `None` where there is nothing that it could be relative to.
fn resolved(base: &str, target: &str) -> Option<String> {
    let base = parse(base).or_else(|_| parse(BLANK)).ok()?;
    crate::url::join(&base, target).ok().map(Into::into)
}

/// A page that another one opens, by the address that this has for it: a blank one where a relative address has nothing to be relative to; none for
/// what is no address, which the browser refuses to open.
fn at_base(base: &str, opening: &Opening) -> Option<Opening> {
    let named = opening.url.as_str();
    let url = match resolved(base, named) {
        _ if named.is_empty() => String::new(),
        Some(url) => url,
        None if Url::parse(named) == Err(ParseError::RelativeUrlWithoutBase) => BLANK.to_owned(),
        None => return None,
    };
    Some(Opening { url, ..opening.clone() })
}

/// The same, or what the page names as it is.
pub(super) fn join(base: &str, target: &str) -> String {
    resolved(base, target).unwrap_or_else(|| target.to_owned())
}
