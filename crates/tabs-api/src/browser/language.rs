//! The language of a tab's page. Whoever asks for it waits for a page that is loading, and for one that was never shown in a window in front.
//! It is read once, and then known for as long as the page stays, is loaded again or is kept for going back to it. Who waits in the browser has an empty one
//! with the next commit; the specification knows none that is empty.

use std::collections::BTreeMap;

use crate::browser::answer::Answer;
use crate::browser::tab::{Status, Tab};
use crate::browser::{Browser, Compat};
use crate::error::Error;
use crate::id::{RequestId, TabId};
use crate::url::is_source;

/// Pages of the browser's own, which has a language for each of its users.
const WITHOUT_LANGUAGE: [&str; 4] = ["chrome:", "chrome-native:", "devtools:", "about:blank"];

/// The language of a page that tells none.
const UNKNOWN: &str = "und";

/// Calls that wait for the page of a tab.
#[derive(Debug, Default)]
pub(super) struct LanguageQueries(BTreeMap<RequestId, TabId>);

impl LanguageQueries {
    /// Takes the calls that wait for a tab, oldest first.
    fn take(&mut self, tab: TabId) -> impl Iterator<Item = RequestId> {
        self.0.extract_if(.., move |_, waits_for| *waits_for == tab).map(|(request, _)| request)
    }
}

impl Browser {
    /// The language of a tab's page, now or later.
    pub(crate) fn detect_language(&mut self, id: TabId) -> Result<Answer, Error> {
        let tab = self.tab(id)?;
        // A copy in the background, too, has no page yet.
        let is_unloaded = tab.status == Status::Unloaded || tab.waits_to_load;
        if is_unloaded && !tab.discarded && self.compat == Compat::Browser {
            return Err(Error::NotLoaded);
        }
        if tab.url.is_empty() || WITHOUT_LANGUAGE.iter().any(|page| tab.url.starts_with(page)) {
            return Err(Error::NoLanguage);
        }
        // Spec tabs-api §4: what is unknown is `und`; the browser waits until the page is there.
        if is_unloaded && self.compat == Compat::Spec {
            return Ok(Answer::Value(UNKNOWN.into()));
        }
        if self.has_language(tab) {
            return Ok(Answer::Value(language_of(tab).into()));
        }
        let request = self.next_request();
        self.languages.0.insert(request, id);
        Ok(Answer::Later(request))
    }

    /// Notes that the user sees the page of a window's active tab, if that window is in front: in any other one the browser does not read it.
    pub(super) fn note_seen(&mut self, id: TabId) {
        let is_in_front = |tab: &&mut Tab| !tab.was_shown && self.focus.front() == Some(tab.window);
        if let Some(tab) = self.strips.tab_mut(id).filter(is_in_front) {
            tab.was_shown = true;
            self.dirty.note_tab(id);
        }
    }

    /// Answers those who wait for the language of a tab's page, if it is there and was shown.
    pub(super) fn answer_languages(&mut self, id: TabId) {
        if !self.strips.tab(id).is_some_and(|tab| self.has_language(tab)) {
            return;
        }
        let Some(tab) = self.strips.tab_mut(id) else { return };
        tab.knows_language = true;
        let language = language_of(tab).to_owned();
        let waiting: Vec<_> = self.languages.take(id).collect();
        for request in waiting {
            self.answer(request, Ok(Answer::Value(language.clone().into())));
        }
    }

    /// True once the language of a tab's page was read. That of an error or of a page's source the browser never reads.
    fn has_language(&self, tab: &Tab) -> bool {
        let is_read = !tab.shows_error && !is_source(&tab.url);
        is_settled(tab) && (is_read || self.compat == Compat::Spec)
    }

    /// Notes that a tab's page is left or loaded anew. In the browser those who wait for its language have an empty one; under the specification they wait
    /// for that of the page that comes.
    pub(super) fn leave_languages(&mut self, id: TabId) {
        if self.compat == Compat::Browser {
            self.end_languages(id);
        }
    }

    /// Answers those who wait for the language of a tab's page that it will never be known: by an empty one in the browser.
    pub(super) fn end_languages(&mut self, id: TabId) {
        let unknown = match self.compat {
            Compat::Browser => "",
            Compat::Spec => UNKNOWN,
        };
        let waiting: Vec<_> = self.languages.take(id).collect();
        for request in waiting {
            self.answer(request, Ok(Answer::Value(unknown.into())));
        }
    }
}

fn is_settled(tab: &Tab) -> bool {
    let is_there = tab.status == Status::Complete && !tab.discarded;
    tab.knows_language || is_there && tab.was_shown
}

fn language_of(tab: &Tab) -> &str {
    tab.language.as_deref().unwrap_or(UNKNOWN)
}
