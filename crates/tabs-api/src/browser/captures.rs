//! Pictures of the visible area, and the language of a page: answers that the engine gives.

use std::time::Duration;

use crate::browser::tab::{Status, Tab, TabId};
use crate::browser::{Answer, Browser, Compat, Waiting};
use crate::engine::{EngineCommand, Request};
use crate::error::Error;
use crate::operation::call::Call;

/// How often an extension may take a picture (Spec tabs-api §8).
pub const MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND: usize = 2;

impl Browser {
    pub(crate) fn request(&mut self, waiting: Waiting) -> Request {
        let request = Request(self.next_number());
        self.waiting.insert(request, waiting);
        request
    }

    /// `tabs.captureVisibleTab`: a call that fails counts against the quota as well.
    pub(crate) fn capture_visible_tab(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let now = self.now;
        let calls = self.captures.entry(call.caller.extension.clone()).or_default();
        while calls.front().is_some_and(|earlier| now.since(*earlier) >= Duration::from_secs(1)) {
            calls.pop_front();
        }
        if calls.len() >= MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND {
            return Err(Error::CaptureQuota);
        }
        calls.push_back(now);
        let window = self.named_window(call, call.arguments.integer(0))?;
        let active = self.window(window)?.active.ok_or(Error::NoCurrentWindow)?;
        self.check_capture(call, active)?;
        let view = self.view(active).ok_or(Error::NoTab(active.0))?;
        let request = self.request(Waiting::Capture);
        let quality =
            call.number(1, "quality").and_then(|quality| u8::try_from(quality).ok()).unwrap_or(92);
        self.command(EngineCommand::Capture {
            request,
            tab: active,
            url: view.url.unwrap_or_default().to_string(),
            title: view.title.unwrap_or_default().to_string(),
            width: view.width,
            height: view.height,
            png: call.text(1, "format") == Some("png"),
            quality,
        });
        Ok(Answer::Later(request))
    }

    /// Spec tabs-api §5.2: `<all_urls>` or an invocation; pages of the browser, of other extensions and of data only with the latter.
    fn check_capture(&self, call: &Call<'_>, id: TabId) -> Result<(), Error> {
        let url = &self.tab(id)?.url;
        let Some(extension) = self.extensions.get(&call.caller.extension) else {
            return Ok(());
        };
        if extension.is_invoked_on(id.0, url) {
            return Ok(());
        }
        if !extension.has_all_urls() && !extension.has_active_tab() {
            return Err(Error::CapturePermission);
        }
        if url.is_empty() || url.starts_with("about:") {
            return Err(Error::NoAccess(String::new()));
        }
        let own = format!("chrome-extension://{}/", extension.id);
        let is_guarded = ["chrome:", "chrome-extension:", "devtools:", "data:"]
            .iter()
            .any(|scheme| url.starts_with(scheme));
        if is_guarded && !url.starts_with(&own) {
            return Err(Error::NotInvoked);
        }
        if !extension.has_all_urls() {
            return Err(Error::CapturePermission);
        }
        if url.starts_with(&own) || extension.may_read(id.0, url) {
            return Ok(());
        }
        Err(Error::NoAccess(url.to_string()))
    }

    pub(crate) fn captured(&mut self, request: Request, picture: Result<String, String>) {
        if self.waiting.remove(&request).is_some() {
            self.answer(
                request,
                picture.map(|url| Answer::Value(url.into())).map_err(Error::Unsupported),
            );
        }
    }

    /// `tabs.detectLanguage`: it waits for a page that is loading, and for one that was never shown.
    pub(crate) fn detect_language(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let id = self.named_tab(call, 0)?;
        let tab = self.tab(id)?;
        let has_language =
            ["http:", "https:", "file:", "data:"].iter().any(|scheme| tab.url.starts_with(scheme));
        if !has_language {
            return Err(Error::NoLanguage);
        }
        if tab.discarded {
            // Spec tabs-api §4: what is unknown is `und`; the browser says why it is.
            return match self.compat {
                Compat::Spec => Ok(Answer::Value("und".into())),
                Compat::Browser => Err(Error::NotLoaded),
            };
        }
        if is_settled(tab) {
            return Ok(Answer::Value(language_of(tab).into()));
        }
        Ok(Answer::Later(self.request(Waiting::Language(id))))
    }

    /// Answers those who wait for the language of a tab's page, if it is there and was shown.
    pub(crate) fn answer_languages(&mut self, id: TabId) {
        let Some(language) =
            self.tabs.get(&id).filter(|tab| is_settled(tab)).map(|tab| language_of(tab).to_owned())
        else {
            return;
        };
        let waits = |waiting: &Waiting| matches!(waiting, Waiting::Language(tab) if *tab == id);
        let ready: Vec<_> = self
            .waiting
            .iter()
            .filter(|(_, waiting)| waits(waiting))
            .map(|(request, _)| *request)
            .collect();
        for request in ready {
            self.waiting.remove(&request);
            self.answer(request, Ok(Answer::Value(language.clone().into())));
        }
    }
}

fn is_settled(tab: &Tab) -> bool {
    tab.status == Status::Complete && tab.was_shown
}

fn language_of(tab: &Tab) -> &str {
    tab.language.as_deref().unwrap_or("und")
}
