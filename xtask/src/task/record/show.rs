//! Scenarios and traces as people read them.

use serde_json::{Map, Value};

use super::scenario::Scenario;
use super::trace::{Event, Outcome, Trace};

/// The members that a tab has unless it is said otherwise.
const USUAL: &[(&str, &str)] = &[
    ("active", "false"),
    ("audible", "false"),
    ("autoDiscardable", "true"),
    ("discarded", "false"),
    ("frozen", "false"),
    ("groupId", "-1"),
    ("height", "\"$PX\""),
    ("highlighted", "false"),
    ("incognito", "false"),
    ("lastAccessed", "\"$TIME\""),
    ("mutedInfo", "{\"muted\":false}"),
    ("pinned", "false"),
    ("splitViewId", "-1"),
    ("status", "\"complete\""),
    ("width", "\"$PX\""),
];

/// A scenario, a step a line.
pub(super) fn steps(scenario: &Scenario) -> String {
    let lines = scenario.steps.iter().enumerate().map(|(number, step)| {
        let args: Vec<_> = step.args.iter().map(short).collect();
        let how = step.how.iter().map(|(name, value)| format!(" {name}={value}"));
        let save = step.save.iter().map(|(name, _)| format!(" ${name}"));
        format!(
            "  {number}. {}({}){}{}",
            step.op,
            args.join(", "),
            how.collect::<String>(),
            save.collect::<String>()
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A scenario with what came of each step.
pub(super) fn trace(scenario: &Scenario, run: &Trace) -> String {
    let written = steps(scenario);
    let none = Vec::new();
    let lines = written.lines().enumerate().map(|(number, step)| {
        let events = run.events.get(number).unwrap_or(&none);
        let heard = |is_before: bool| {
            let heard = events
                .iter()
                .filter(move |event| event.is_before_result == is_before && is_news(event));
            heard.map(|event| format!("\n       {}", self::event(event))).collect::<String>()
        };
        let outcome = run.outcomes.get(number).map(outcome_line).unwrap_or_default();
        format!("{step}{}\n     => {outcome}{}", heard(true), heard(false))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Zoom that stays as it is comes with every load.
fn is_news(event: &Event) -> bool {
    let factor = |name: &str| event.args.pointer(&format!("/0/{name}"));
    event.name != "tabs.onZoomChange" || factor("newZoomFactor") != factor("oldZoomFactor")
}

/// An event with what its listeners got.
pub(super) fn event(event: &Event) -> String {
    let args = event.args.as_array().into_iter().flatten().map(short);
    format!("{} {}", event.name.trim_start_matches("tabs."), args.collect::<Vec<_>>().join(" "))
}

fn outcome_line(outcome: &Outcome) -> String {
    let members = &outcome.members;
    let text =
        |name: &str| members.get("error").and_then(|error| error.get(name)).and_then(Value::as_str);
    match (members.get("error"), members.get("result")) {
        (Some(_), _) => {
            format!("{}: {}", text("kind").unwrap_or_default(), text("message").unwrap_or_default())
        }
        (None, Some(result)) => short(result),
        (None, None) => "undefined".to_owned(),
    }
}

/// A value, tabs without what all of them have.
pub(super) fn short(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(short).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members)
            if members.contains_key("highlighted") && members.contains_key("index") =>
        {
            short_tab(members)
        }
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| *value != "$PX");
            let members: Vec<_> =
                members.map(|(name, value)| format!("{name}: {}", short(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::String(text) if text.starts_with('$') => text.clone(),
        _ => value.to_string(),
    }
}

fn short_tab(members: &Map<String, Value>) -> String {
    let text = |name: &str| members.get(name).map(short).unwrap_or_default();
    let is_shown = |name: &str, value: &Value| {
        let is_place = ["id", "index", "windowId", "selected"].contains(&name);
        !is_place && !USUAL.contains(&(name, value.to_string().as_str()))
    };
    let shown = members.iter().filter(|(name, value)| is_shown(name, value)).map(
        |(name, value)| match value {
            Value::Bool(true) => format!(" {name}"),
            _ => format!(" {name}={}", short(value)),
        },
    );
    format!(
        "Tab({}@{}:{}{})",
        text("id"),
        text("windowId"),
        text("index"),
        shown.collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tab_is_shown_by_what_it_has_of_its_own() {
        let tab = json!({ "id": "$T1", "windowId": "$W1", "index": 0, "highlighted": true, "selected": true, "active": true,
            "pinned": false, "width": "$PX", "title": "Page A", "status": "complete" });
        assert_eq!(
            short(&json!([tab, 1])),
            "[Tab($T1@$W1:0 active highlighted title=\"Page A\"), 1]"
        );
    }
}
