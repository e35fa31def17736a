//! The places of tabs, and which are highlighted: move and highlight.

use std::collections::BTreeSet;

use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::id::WINDOW_ID_CURRENT;
use crate::operation::call::Call;
use crate::operation::row::Operation;
use crate::operation::schema::shared::{IDS, PLACE, WINDOW};
use crate::operation::schema::{Parameter, Property, Schema};

pub(in crate::operation) const MOVE: Operation = Operation::new(
    "tabs.move",
    &[Parameter::required("tabIds", IDS), Parameter::required("moveProperties", PLACE)],
    move_tabs,
    "Moves tabs within a window or to another.",
);

/// Moves one tab after the other, each behind the place where the one before it landed, in whichever window; -1 is the end.
fn move_tabs(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let ids = call.ids(call.arguments.at(0));
    if ids.is_empty() {
        return Err(Error::NoTabsGiven);
    }
    let mut index = call.number(1, "index").and_then(|index| usize::try_from(index).ok());
    let window = call.number(1, "windowId");
    let mut moved = Vec::new();
    for id in &ids {
        let id = call.tab(browser, *id)?.id;
        browser.check_not_dragging()?;
        let target = window.map(|_| call.window_or_current(browser, window)).transpose()?;
        if let Some(target) = target {
            browser.check_same_profile(id, target)?;
        }
        // The current window as -2 counts as another one, even where it is the tab's own.
        let is_named_current = window == Some(WINDOW_ID_CURRENT);
        match target {
            Some(target) if target != browser.tab(id)?.window || is_named_current => {
                browser.move_across(id, target, index)?
            }
            _ => browser.move_within(id, index)?,
        }
        if let Some(view) = browser.view(id) {
            index = usize::try_from(view.index + 1).ok();
            moved.push(view.seen_by(&call.access(browser)));
        }
    }
    match moved.len() {
        1 => Ok(Answer::Tab(Box::new(moved.remove(0)))),
        _ => Ok(Answer::Tabs(moved)),
    }
}

pub(in crate::operation) const HIGHLIGHT: Operation = Operation::new(
    "tabs.highlight",
    &[Parameter::required(
        "highlightInfo",
        Schema::Object(&[
            Property::optional("windowId", WINDOW),
            Property::required(
                "tabs",
                Schema::Choice(&[
                    Schema::Array { of: &Schema::at_least(0), min_items: 0 },
                    Schema::INTEGER,
                ]),
            ),
        ]),
    )],
    highlight,
    "Highlights tabs and makes the first of them active.",
);

/// Highlights tabs: the first index becomes active, the others highlighted with it.
fn highlight(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let window = call.window_or_current(browser, call.number(0, "windowId"))?;
    let indices = call.ids(call.property(0, "tabs"));
    browser.check_not_dragging()?;
    let strip = &browser.window(window)?.tabs;
    let at = |index: i64| usize::try_from(index).ok().and_then(|index| strip.get(index)).copied();
    // Of several bad indices the browser names the least, wherever it stands.
    if let Some(bad) = indices.iter().filter(|index| at(**index).is_none()).min() {
        return Err(Error::NoTabAtIndex(*bad));
    }
    let tabs: Vec<_> = indices.iter().filter_map(|index| at(*index)).collect();
    let active = *tabs.first().ok_or(Error::NoHighlightedTab)?;
    browser.select(active, tabs.into_iter().collect::<BTreeSet<_>>())?;
    let view = browser.window_view(browser.window(window)?, true, &call.access(browser));
    Ok(Answer::Window(Box::new(view)))
}
