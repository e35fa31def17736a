//! Groups of tabs: group and ungroup.

use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::js_value::JsValue;
use crate::operation::call::Call;
use crate::operation::row::Operation;
use crate::operation::schema::shared::{SOME_IDS, WINDOW};
use crate::operation::schema::{Parameter, Property, Schema};

pub(in crate::operation) const GROUP: Operation = Operation::new(
    "tabs.group",
    &[Parameter::required(
        "options",
        Schema::Object(&[
            Property::required("tabIds", SOME_IDS),
            Property::optional("groupId", Schema::at_least(0)),
            Property::optional(
                "createProperties",
                Schema::Object(&[Property::optional("windowId", WINDOW)]),
            ),
        ]),
    )],
    group,
    "Puts tabs into a group, a new one unless one is named.",
);

fn group(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let group = call.number(0, "groupId");
    let properties = call.property(0, "createProperties");
    if group.is_some() && properties.is_some() {
        return Err(Error::GroupAndProperties);
    }
    let group = group.map(|id| call.group(browser, id)).transpose()?;
    let window = match group {
        Some(group) => group.window,
        None => {
            let named = properties.and_then(|properties| properties.property("windowId"));
            call.window_or_current(browser, named.and_then(JsValue::integer))?
        }
    };
    if !browser.window(window)?.takes_groups {
        return Err(Error::GroupingNotSupported);
    }
    let group = group.map(|group| group.id);
    browser.check_not_dragging()?;
    let ids = call.ids(call.property(0, "tabIds"));
    let tabs = ids.into_iter().map(|id| call.tab(browser, id).map(|tab| tab.id));
    let tabs = tabs.collect::<Result<Vec<_>, _>>()?;
    let group = browser.group_tabs(&tabs, window, group)?;
    Ok(Answer::Value(group.0.into()))
}

pub(in crate::operation) const UNGROUP: Operation = Operation::new(
    "tabs.ungroup",
    &[Parameter::required("tabIds", SOME_IDS)],
    ungroup,
    "Takes tabs out of their groups.",
);

/// Takes tabs out of their groups; those before an unknown id are out of them.
fn ungroup(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    for id in call.ids(call.arguments.at(0)) {
        let id = call.tab(browser, id)?.id;
        browser.check_not_dragging()?;
        if !browser.window(browser.tab(id)?.window)?.takes_groups {
            return Err(Error::GroupingNotSupported);
        }
        browser.leave_group(id)?;
    }
    Ok(Answer::Undefined)
}
