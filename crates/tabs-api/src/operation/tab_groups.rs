//! The operations of `tabGroups`.

use serde_json::Value;

use crate::browser::group::Group;
use crate::browser::tab_group::GroupChange;
use crate::browser::window::WindowKind;
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::extension::match_pattern::glob;
use crate::id::{GROUP_ID_NONE, WINDOW_ID_CURRENT, WINDOW_ID_NONE};
use crate::operation::call::Call;
use crate::operation::row::Operation;
use crate::operation::schema::shared::{COLOR, ID, PLACE, WINDOW};
use crate::operation::schema::{Parameter, Property, Schema};

/// The group that the first argument names.
fn group_of<'b>(browser: &'b Browser, call: &Call<'_>) -> Result<&'b Group, Error> {
    call.group(browser, call.arguments.integer(0).unwrap_or(GROUP_ID_NONE))
}

pub(super) const GET: Operation =
    Operation::new("tabGroups.get", &[Parameter::required("groupId", ID)], get, "One group.")
        .question();

fn get(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    Ok(Answer::Value(group_of(browser, call)?.render()))
}

pub(super) const QUERY: Operation = Operation::new(
    "tabGroups.query",
    &[Parameter::required(
        "queryInfo",
        Schema::Object(&[
            Property::optional("collapsed", Schema::Boolean),
            Property::optional("color", COLOR),
            Property::optional("shared", Schema::Boolean),
            Property::optional("title", Schema::String),
            Property::optional("windowId", WINDOW),
        ]),
    )],
    query,
    "The groups that have all the properties asked for.",
)
.question();

fn query(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let named = call.number(0, "windowId").filter(|id| *id != WINDOW_ID_NONE);
    let window = match named {
        Some(WINDOW_ID_CURRENT) => Some(call.current_window(browser)?.0),
        other => other,
    };
    // Window by window, the one that had the focus last first.
    let windows = browser.focus().order().iter();
    let groups = windows
        .flat_map(|window| browser.strips().groups().filter(|group| group.window == *window));
    let found = groups.filter(|group| {
        call.boolean(0, "collapsed").is_none_or(|wanted| wanted == group.collapsed)
            && call.boolean(0, "shared").is_none_or(|wanted| !wanted)
            && call.text(0, "color").is_none_or(|wanted| wanted == group.color)
            && call.text(0, "title").is_none_or(|wanted| glob(wanted, &group.title, true))
            && window.is_none_or(|wanted| wanted == group.window.0)
            && browser.window(group.window).is_ok_and(|window| call.sees(browser, window))
    });
    Ok(Answer::Value(Value::Array(found.map(Group::render).collect())))
}

pub(super) const UPDATE: Operation = Operation::new(
    "tabGroups.update",
    &[
        Parameter::required("groupId", ID),
        Parameter::required(
            "updateProperties",
            Schema::Object(&[
                Property::optional("collapsed", Schema::Boolean),
                Property::optional("color", COLOR),
                Property::optional("title", Schema::String),
            ]),
        ),
    ],
    update,
    "Changes a group's properties.",
);

fn update(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let id = group_of(browser, call)?.id;
    browser.check_not_dragging()?;
    let change = GroupChange {
        collapsed: call.boolean(1, "collapsed"),
        color: call.text(1, "color").map(str::to_owned),
        title: call.text(1, "title").map(str::to_owned),
    };
    Ok(Answer::Value(browser.update_group(id.0, change)?.render()))
}

pub(super) const MOVE: Operation = Operation::new(
    "tabGroups.move",
    &[Parameter::required("groupId", ID), Parameter::required("moveProperties", PLACE)],
    move_group,
    "Moves a group within its window or to another.",
);

fn move_group(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let group = group_of(browser, call)?.clone();
    browser.check_not_dragging()?;
    let target = match call.number(1, "windowId") {
        Some(named) => call.window_or_current(browser, Some(named))?,
        None => group.window,
    };
    if browser.window(target)?.kind != WindowKind::Normal {
        return Err(Error::NotNormalWindow);
    }
    if browser.window(group.window)?.incognito != browser.window(target)?.incognito {
        return Err(Error::OtherProfile);
    }
    let index = usize::try_from(call.number(1, "index").unwrap_or(-1)).unwrap_or(usize::MAX);
    Ok(Answer::Value(browser.move_group(&group, target, index)?.render()))
}
