//! The operations of `windows`, as far as tabs need them.

use serde_json::Value;

use crate::browser::incognito::is_allowed_incognito;
use crate::browser::strip::WindowPlacement;
use crate::browser::window::{Window, WindowKind, WindowView};
use crate::browser::{Answer, Browser, Compat};
use crate::error::Error;
use crate::id::{WINDOW_ID_CURRENT, WindowId};
use crate::operation::call::{Call, Context};
use crate::operation::row::Operation;
use crate::operation::schema::shared::{GET_OPTIONS, ID, WINDOW, WINDOW_STATE};
use crate::operation::schema::{Parameter, Property, Schema};
use crate::url::NEW_TAB;

fn window_answer(
    browser: &Browser,
    call: &Call<'_>,
    window: WindowId,
    options: usize,
) -> Result<Answer, Error> {
    let populate = call.boolean(options, "populate").unwrap_or(false);
    let view = browser.window_view(browser.window(window)?, populate, &call.access(browser));
    Ok(Answer::Window(Box::new(view)))
}

pub(super) const GET: Operation = Operation::new(
    "windows.get",
    &[Parameter::required("windowId", WINDOW), Parameter::optional("queryOptions", GET_OPTIONS)],
    get,
    "One window.",
)
.question();

fn get(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let window = named_window(browser, call, &WindowTypes::of(call, 1))?;
    window_answer(browser, call, window, 1)
}

/// The window that the first argument names, which must be of these types, but for a page that asks for its own.
fn named_window(
    browser: &Browser,
    call: &Call<'_>,
    types: &WindowTypes<'_>,
) -> Result<WindowId, Error> {
    match call.arguments.integer(0) {
        None | Some(WINDOW_ID_CURRENT) => {
            call.current_window_among(browser, |window| types.has(window))
        }
        Some(id) if types.has(call.window(browser, id)?) => Ok(WindowId(id)),
        Some(id) => Err(Error::NoWindow(id)),
    }
}

/// The types of windows that a call asks for.
#[derive(Default)]
struct WindowTypes<'c>(Vec<&'c str>);

impl<'c> WindowTypes<'c> {
    fn of(call: &Call<'c>, options: usize) -> Self {
        Self(call.texts(options, "windowTypes"))
    }

    /// True for a window that is asked for; where none is named, it is those with pages of the web.
    fn has(&self, window: &Window) -> bool {
        if self.0.is_empty() {
            return window.kind.lists_tabs();
        }
        self.0.contains(&window.kind.word())
    }

    /// The first of some windows that is asked for.
    fn first(
        &self,
        browser: &Browser,
        call: &Call<'_>,
        mut windows: impl Iterator<Item = WindowId>,
    ) -> Option<WindowId> {
        windows.find(|id| {
            let window = browser.window(*id);
            window.is_ok_and(|window| self.has(window) && call.sees(browser, window))
        })
    }
}

pub(super) const GET_CURRENT: Operation = Operation::new(
    "windows.getCurrent",
    &[Parameter::optional("queryOptions", GET_OPTIONS)],
    get_current,
    "The window that the call comes from.",
)
.question();

fn get_current(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let types = WindowTypes::of(call, 0);
    let current = call.current_window_among(browser, |window| types.has(window))?;
    window_answer(browser, call, current, 0)
}

pub(super) const GET_LAST_FOCUSED: Operation = Operation::new(
    "windows.getLastFocused",
    &[Parameter::optional("queryOptions", GET_OPTIONS)],
    get_last_focused,
    "The window that had the focus last.",
)
.question();

fn get_last_focused(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let types = WindowTypes::of(call, 0);
    let last = types.first(browser, call, browser.focus().order().iter().copied());
    window_answer(browser, call, last.ok_or(Error::NoLastFocusedWindow)?, 0)
}

pub(super) const GET_ALL: Operation = Operation::new(
    "windows.getAll",
    &[Parameter::optional("queryOptions", GET_OPTIONS)],
    get_all,
    "All windows.",
)
.question();

fn get_all(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let populate = call.boolean(0, "populate").unwrap_or(false);
    let types = WindowTypes::of(call, 0);
    let access = call.access(browser);
    let windows = browser.strips().windows();
    let windows = windows.filter(|window| types.has(window) && call.sees(browser, window));
    let views = windows.map(|window| browser.window_view(window, populate, &access));
    Ok(Answer::Windows(views.collect()))
}

pub(super) const CREATE: Operation = Operation::new(
    "windows.create",
    &[Parameter::optional(
        "createData",
        Schema::Object(&[
            Property::optional(
                "url",
                Schema::Choice(&[
                    Schema::String,
                    Schema::Array { of: &Schema::String, min_items: 0 },
                ]),
            ),
            Property::optional("tabId", ID),
            Property::optional("left", Schema::INTEGER),
            Property::optional("top", Schema::INTEGER),
            Property::optional("width", Schema::at_least(0)),
            Property::optional("height", Schema::at_least(0)),
            Property::optional("focused", Schema::Boolean),
            Property::optional("incognito", Schema::Boolean),
            Property::optional(
                "type",
                Schema::Named("windows.CreateType", &Schema::Word(&["normal", "panel", "popup"])),
            ),
            Property::optional("state", WINDOW_STATE),
            Property::optional("setSelfAsOpener", Schema::Boolean),
        ]),
    )],
    create,
    "Opens a window with one tab, several, or one that exists.",
);

/// Opens a window with a new tab, with one for each URL, or with a tab that exists.
fn create(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let urls = call.texts(0, "url").into_iter();
    let urls = urls.map(|text| call.url(browser, text)).collect::<Result<Vec<_>, _>>()?;
    let incognito = call.boolean(0, "incognito").unwrap_or(false);
    let urls = if incognito { allowed_incognito(urls)? } else { urls };
    check_state(call, 0)?;
    let tab = call.number(0, "tabId");
    let tab = tab.map(|id| call.tab(browser, id)).transpose()?.map(|tab| (tab.id, tab.window));
    if let Some((_, window)) = tab {
        browser.check_not_dragging()?;
        if browser.window(window)?.incognito != incognito {
            return Err(Error::OtherProfile);
        }
    }
    if call.text(0, "state") == Some("locked-fullscreen") {
        return Err(Error::LockedFullscreen);
    }
    let is_popup = matches!(call.text(0, "type"), Some("popup" | "panel"));
    let kind = if is_popup { WindowKind::Popup } else { WindowKind::Normal };
    // The window manager changes its state once it is there.
    let asked = browser.placement_on_screen(placement(call, 0))?;
    let placement = WindowPlacement { state: None, ..asked.clone() };
    if call.boolean(0, "setSelfAsOpener") == Some(true) && call.caller.context == Context::Worker {
        return Err(Error::WorkerAsOpener);
    }
    let window = browser.open_window(kind, incognito, placement)?;
    match tab {
        Some((tab, _)) if urls.is_empty() => browser.fill_window_with(window, tab)?,
        Some((tab, _)) if !is_popup => browser.fill_window_in_front_of(window, &urls, tab)?,
        // Without a page such a window stays empty; with one it takes no tab.
        None if is_popup && urls.is_empty() => {}
        _ => browser.fill_window(window, &urls)?,
    }
    let is_minimized = asked.state.as_deref() == Some("minimized");
    // A new tab's page takes the keys as it opens, and with them the focus, also where the window was to stay behind. That of incognito windows does not.
    let takes_keys = tab.is_none() && !is_popup && !incognito && opens_new_tab(&urls);
    if takes_keys && !is_minimized || call.boolean(0, "focused").unwrap_or(!is_minimized) {
        browser.give_focus(window);
    }
    // As recorded: the window manager has not given it the focus yet when it is given back.
    let state = browser.window(window)?;
    let view = browser.window_view(state, true, &call.access(browser));
    let answer = if call.sees(browser, state) {
        Answer::Window(Box::new(WindowView { focused: false, ..view }))
    } else {
        Answer::Value(Value::Null)
    };
    // The browser leaves one that is to fill the screen as it is.
    if is_minimized || browser.compat() == Compat::Spec {
        let state = asked.state;
        browser.place_window(window, WindowPlacement { state, ..WindowPlacement::default() })?;
    }
    Ok(answer)
}

/// True if one of the pages of a new window is that of a new tab; without any it is.
fn opens_new_tab(urls: &[String]) -> bool {
    urls.is_empty() || urls.iter().any(|url| url == NEW_TAB)
}

/// The pages among these that an incognito window shows.
fn allowed_incognito(urls: Vec<String>) -> Result<Vec<String>, Error> {
    let first = urls.first().cloned();
    let is_allowed = |url: &String| is_allowed_incognito(url) || url.starts_with(OWN_PAGE);
    let allowed: Vec<_> = urls.into_iter().filter(is_allowed).collect();
    match first {
        Some(first) if allowed.is_empty() => Err(Error::NotInIncognito(first)),
        _ => Ok(allowed),
    }
}

/// A new window is not asked whose page of an extension it shows.
const OWN_PAGE: &str = "chrome-extension://";

pub(super) const UPDATE: Operation = Operation::new(
    "windows.update",
    &[
        Parameter::required("windowId", WINDOW),
        Parameter::required(
            "updateInfo",
            Schema::Object(&[
                Property::optional("left", Schema::INTEGER),
                Property::optional("top", Schema::INTEGER),
                Property::optional("width", Schema::at_least(0)),
                Property::optional("height", Schema::at_least(0)),
                Property::optional("focused", Schema::Boolean),
                Property::optional("drawAttention", Schema::Boolean),
                Property::optional("state", WINDOW_STATE),
            ]),
        ),
    ],
    update,
    "Changes a window's place, state or focus.",
);

fn update(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let window = named_window(browser, call, &WindowTypes::default())?;
    browser.check_on_screen(window, &placement(call, 1))?;
    check_state(call, 1)?;
    if call.boolean(1, "focused") == Some(false) {
        browser.lower_window(window);
    }
    // The window manager acts later: what is given back is how the window was, but for a focus that it lost.
    let mut before = browser.window_view(browser.window(window)?, false, &call.access(browser));
    let was = browser.window(window)?.state;
    let mut asked = placement(call, 1);
    let hides = asked.state.as_deref() == Some("minimized");
    let shows = asked.state.is_some() && !hides;
    // What restores a window or has it fill the screen brings it to the front as well.
    let comes_to_front = matches!(asked.state.as_deref(), Some("normal" | "fullscreen"));
    if was.fullscreen && (asked.has_place() || asked.has_size()) {
        // It has a place and a size again, and no longer fills the screen.
        asked.state.get_or_insert_with(|| "normal".into());
    }
    browser.place_window(window, asked)?;
    let is = browser.window(window)?.state;
    // To fill the screen, and to do so no longer, is the browser's own doing, and done at once.
    before.state = was.at_once(is).word();
    if hides {
        browser.pass_on_focus(window);
    }
    let focused = call.boolean(1, "focused");
    let gets_focus = focused == Some(true) || comes_to_front && focused.is_none();
    if gets_focus || was.minimized && shows {
        // One that had only given its focus up has it at once.
        before.focused |= !was.minimized && browser.focus().order().first() == Some(&window);
        browser.give_focus(window);
    }
    if is.minimized && shows {
        // It has the focus, and is not to be seen still.
        browser.hide_window(window)?;
    }
    Ok(Answer::Window(Box::new(before)))
}

pub(super) const REMOVE: Operation = Operation::new(
    "windows.remove",
    &[Parameter::required("windowId", ID)],
    remove,
    "Closes a window and its tabs.",
);

fn remove(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let window = named_window(browser, call, &WindowTypes::default())?;
    browser.check_not_dragging()?;
    browser.leave_window(window)?;
    Ok(Answer::Undefined)
}

fn placement(call: &Call<'_>, options: usize) -> WindowPlacement {
    WindowPlacement {
        left: call.number(options, "left"),
        top: call.number(options, "top"),
        width: call.number(options, "width"),
        height: call.number(options, "height"),
        // An update to it only fills the screen; a creation with it was refused before.
        state: call.text(options, "state").map(|state| match state {
            "locked-fullscreen" => "fullscreen".to_owned(),
            state => state.to_owned(),
        }),
    }
}

/// Refuses a place for a window that fills the screen or is minimized; one is focused, the other is not.
fn check_state(call: &Call<'_>, options: usize) -> Result<(), Error> {
    let contradicts = match call.text(options, "state") {
        Some("minimized") => Some(true),
        Some("maximized" | "fullscreen" | "locked-fullscreen") => Some(false),
        _ => return Ok(()),
    };
    let names = ["left", "top", "width", "height"];
    let has_bounds = names.iter().any(|name| call.number(options, name).is_some());
    if has_bounds || call.boolean(options, "focused") == contradicts {
        return Err(Error::InvalidWindowState);
    }
    Ok(())
}
