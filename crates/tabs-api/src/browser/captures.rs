//! Screenshots of the visible area: who may take one, how often, and which are under way.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use triptych_core::time::Timestamp;

use crate::browser::answer::Answer;
use crate::browser::{Browser, Compat};
use crate::engine::EngineCommand;
use crate::error::Error;
use crate::extension::permission::is_gallery;
use crate::id::{RequestId, TabId, WindowId};
use crate::js_value::JsValue;
use crate::url::root;

/// The number of screenshots that an extension may take in a second (Spec tabs-api §8).
pub const MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND: usize = 2;

/// Its name in the table of versions.
const QUOTA: &str = "tabs.MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND";

/// The time for which an extension's calls are counted together, from the first of them on.
const COUNTED_TOGETHER: Duration = Duration::from_secs(1);

/// Calls that an extension made within such a time.
#[derive(Debug)]
struct Calls {
    since: Timestamp,
    count: usize,
}

/// Screenshots that extensions asked for.
#[derive(Debug, Default)]
pub(super) struct Captures {
    recent: HashMap<String, Calls>,
    under_way: BTreeSet<RequestId>,
    waiting: Vec<Waiting>,
}

/// A picture of a page that is not to be seen yet.
#[derive(Debug)]
struct Waiting {
    request: RequestId,
    tab: TabId,
    /// The number of the navigation that the page came with.
    page: u64,
    asked: PictureRequest,
}

/// The moment at which the browser draws a page, which a picture of it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Drawn {
    /// It is to be seen.
    Now,
    /// Once its window is to be seen.
    OnceVisible,
    /// Not where the page came while its window was in the background.
    Never,
}

impl Captures {
    /// Counts a call against the quota of its extension.
    fn count(&mut self, extension: &str, now: Timestamp) -> Result<(), Error> {
        let first = || Calls { since: now, count: 0 };
        let calls = self.recent.entry(extension.to_owned()).or_insert_with(first);
        if now.since(calls.since) > COUNTED_TOGETHER {
            *calls = first();
        }
        if calls.count >= MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND {
            return Err(Error::CaptureQuota);
        }
        calls.count += 1;
        Ok(())
    }
}

/// The encoding of a screenshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ImageFormat {
    pub(crate) is_png: bool,
    /// From 0 to 100, for JPEG alone.
    pub(crate) quality: u8,
}

/// A part of a page, in pixels of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Part {
    pub(crate) x: i64,
    pub(crate) y: i64,
    pub(crate) width: i64,
    pub(crate) height: i64,
    /// The number of pixels of the picture for one of the page.
    pub(crate) scale: f64,
}

impl Part {
    /// The size of the picture of this part of a page of a size: the pixels that it touches at its scale, as far as they lie within that size. That of the
    /// whole page where nothing would be in it, or more than can be counted; `None` where all of it lies outside.
    fn size_within(self, width: i64, height: i64) -> Option<(i64, i64)> {
        let across = touched(self.x, self.width, self.scale);
        let down = touched(self.y, self.height, self.scale);
        let (Some(across), Some(down)) = (across, down) else { return Some((width, height)) };
        Some((shared(across, width)?, shared(down, height)?))
    }
}

/// The pixels that a stretch touches at a scale, from one up to another; `None` where there are none, or more than 32 bits count.
fn touched(start: i64, length: i64, scale: f64) -> Option<(i64, i64)> {
    let counted = |number: f64| JsValue::Number(number).integer();
    #[expect(clippy::cast_precision_loss, reason = "both have 32 bits")]
    let (start, length) = (start as f64, length as f64);
    counted(start + length)?;
    counted((length * scale).ceil()).filter(|pixels| *pixels > 0)?;
    // The browser's numbers are short ones here: 900 at 1.05 begins in pixel 944.
    #[expect(clippy::cast_possible_truncation, reason = "so does the browser")]
    let at_scale = |place: f64| f64::from(place as f32 * scale as f32);
    let first = counted(at_scale(start).floor()).unwrap_or(i64::MAX);
    Some((first, counted(at_scale(start + length).ceil()).unwrap_or(i64::MAX)))
}

/// The number of pixels of a stretch that lie before an end; `None` where none does.
fn shared((first, behind): (i64, i64), end: i64) -> Option<i64> {
    Some(behind.min(end).saturating_sub(first)).filter(|pixels| *pixels > 0)
}

/// The picture that a call asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PictureRequest {
    pub(crate) format: ImageFormat,
    /// The whole of what is to be seen where none is named.
    pub(crate) part: Option<Part>,
}

impl Browser {
    /// Counts a call of `captureVisibleTab`, one that will fail as well. Versions that do not tell the quota have none.
    pub(crate) fn count_capture(&mut self, extension: &str) -> Result<(), Error> {
        if !self.version.has(QUOTA) {
            return Ok(());
        }
        self.captures.count(extension, self.now)
    }

    /// Begins to take a screenshot of a window's active tab.
    pub(crate) fn capture(
        &mut self,
        extension: &str,
        window: WindowId,
        asked: PictureRequest,
    ) -> Result<RequestId, Error> {
        let active = self.window(window)?.active.ok_or(Error::NoActivePage)?;
        self.check_capture(extension, active)?;
        if self.tab(active)?.discarded {
            return Err(Error::NoView);
        }
        if self.drawn(active) == Drawn::Never {
            return Err(Error::NoPicture);
        }
        let request = self.next_request();
        let page = self.tab(active)?.document_load;
        self.captures.waiting.push(Waiting { request, tab: active, page, asked });
        self.take_pictures();
        Ok(request)
    }

    /// The moment at which the page of a tab is drawn. Under the specification every page is.
    fn drawn(&self, id: TabId) -> Drawn {
        let tab = self.strips.tab(id);
        let Some((tab, window)) = tab.and_then(|tab| Some((tab, self.strips.window(tab.window)?)))
        else {
            return Drawn::Never;
        };
        match self.compat {
            Compat::Spec => Drawn::Now,
            Compat::Browser if tab.was_shown && !window.is_minimized() => Drawn::Now,
            Compat::Browser if tab.was_shown || tab.is_laid_out => Drawn::OnceVisible,
            Compat::Browser => Drawn::Never,
        }
    }

    /// Takes the pictures that wait, of pages that are to be seen by now. Nobody waits for a page that is left or hidden.
    pub(super) fn take_pictures(&mut self) {
        for waiting in std::mem::take(&mut self.captures.waiting) {
            let tab = self.strips.tab(waiting.tab);
            let is_there = tab.is_some_and(|tab| tab.document_load == waiting.page);
            let drawn = self.drawn(waiting.tab);
            if !is_there || !self.is_active(waiting.tab) || drawn == Drawn::Never {
                self.answer(waiting.request, Err(Error::NoPicture));
            } else if drawn == Drawn::OnceVisible {
                self.captures.waiting.push(waiting);
            } else {
                self.take_picture(&waiting);
            }
        }
    }

    fn take_picture(&mut self, waiting: &Waiting) {
        let (request, PictureRequest { format, part }) = (waiting.request, waiting.asked);
        let Some(view) = self.view(waiting.tab) else {
            return self.answer(request, Err(Error::NoPicture));
        };
        let whole = (view.width, view.height);
        let size = part.map_or(Some(whole), |part| part.size_within(whole.0, whole.1));
        let Some((width, height)) = size else {
            return self.answer(request, Err(Error::NoPicture));
        };
        self.captures.under_way.insert(request);
        self.command(EngineCommand::Capture {
            request,
            tab: waiting.tab,
            url: view.url.unwrap_or_default().to_string(),
            title: view.title.unwrap_or_default().to_string(),
            width,
            height,
            png: format.is_png,
            quality: format.quality,
        });
    }

    /// Spec tabs-api §5.2: `<all_urls>` or an invocation; pages of the browser, of other extensions and of data only with the latter.
    fn check_capture(&self, extension: &str, id: TabId) -> Result<(), Error> {
        let url = &self.tab(id)?.url;
        let Some(extension) = self.extensions.get(extension) else {
            return Ok(());
        };
        let is_invoked = extension.is_invoked_on(id.0, url);
        if !is_invoked && !extension.has_all_urls() {
            return Err(Error::CapturePermission);
        }
        let origin = root(url);
        let is_let = is_invoked || extension.may_read(id.0, &origin);
        let refused = match extension.check_open(&origin) {
            Ok(()) if is_let => return Ok(()),
            Ok(()) => extension.no_access(&origin),
            Err(refused) => refused,
        };
        let guarded = ["chrome:", "chrome-extension:", "data:"];
        let is_guarded =
            guarded.iter().any(|scheme| url.starts_with(scheme)) || is_gallery(&origin);
        match refused {
            _ if is_guarded && is_invoked => Ok(()),
            _ if is_guarded => Err(Error::NotInvoked),
            refused => Err(refused),
        }
    }

    pub(super) fn on_captured(&mut self, request: RequestId, picture: Result<String, String>) {
        if self.captures.under_way.remove(&request) {
            let answer = picture.map(|url| Answer::Value(url.into())).map_err(Error::Unsupported);
            self.answer(request, answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_page_is_drawn_at_its_scale_as_far_as_it_lies_within() {
        for ((x, y, width, height), scale, size) in [
            ((10, 20, 80, 60), 1.0, Some((80, 60))),
            ((10, 20, 80, 60), 2.0, Some((160, 120))),
            ((10, 20, 80, 60), 0.001, Some((1, 1))),
            ((10, 20, 81, 61), 3.3, Some((268, 202))),
            ((900, 20, 800, 60), 1.0, Some((92, 60))),
            ((0, 0, 1_000, 609), 0.5, Some((500, 305))),
            ((10, 20, 80, 60), 12.0, Some((872, 369))),
            ((10, 20, 80, 60), 50.0, None),
            ((900, 20, 200, 60), 1.5, None),
            ((900, 20, 81, 61), 1.1, Some((2, 68))),
            ((900, 20, 81, 61), 1.05, Some((48, 65))),
            ((301, 20, 7, 7), 2.9, Some((22, 21))),
            ((0, 0, 2_000_000_000, 2_000_000_000), 2.0, Some((992, 609))),
            ((i64::from(i32::MAX), 0, 10, 10), 1.0, Some((992, 609))),
            ((10, 20, 0, 60), 1.0, Some((992, 609))),
            ((10, 20, 80, 60), 0.0, Some((992, 609))),
            ((10, 20, 80, 60), 2e9, Some((992, 609))),
            ((5_000, 5_000, 80, 60), 1.0, None),
        ] {
            let part = Part { x, y, width, height, scale };
            assert_eq!(part.size_within(992, 609), size, "{part:?}");
        }
    }

    #[test]
    fn calls_count_together_from_the_first_of_them_on_for_a_second() {
        let start = Timestamp::from_seconds(1_790_000_000);
        let mut captures = Captures::default();
        let mut is_let = |milliseconds| {
            captures.count("e", start.plus(Duration::from_millis(milliseconds))).is_ok()
        };
        let let_in = [0, 900, 1_000, 1_050, 1_100, 1_900].map(&mut is_let);
        assert_eq!(let_in, [true, true, false, true, true, false]);
    }
}
