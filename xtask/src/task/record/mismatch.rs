//! The first difference of two runs of a scenario, and its class.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::scenario::Scenario;
use super::show::{self, short};
use super::trace::{Event, Outcome, Trace};

/// A difference between what the browser did and what the engine did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mismatch {
    /// Operation, result or event, and fields: what mismatches of one cause share.
    pub class: String,
    /// The step.
    pub step: usize,
    /// The recorded one.
    pub wanted: String,
    /// The one that came instead.
    pub got: String,
}

impl Mismatch {
    /// The first difference, or none.
    pub(super) fn first(scenario: &Scenario, wanted: &Trace, got: &Trace) -> Option<Self> {
        let (wanted, got) = (wanted.steady(), got.steady());
        for (step, call) in scenario.steps.iter().enumerate() {
            let at = |class: String, wanted: String, got: String| {
                Some(Self { class: format!("{} {class}", call.op), step, wanted, got })
            };
            if let Some((class, mine, theirs)) =
                first_event(wanted.events.get(step), got.events.get(step))
            {
                return at(class, mine, theirs);
            }
            let outcomes = (wanted.outcomes.get(step), got.outcomes.get(step));
            if let (Some(mine), Some(theirs)) = outcomes
                && essence(mine) != essence(theirs)
            {
                return at(
                    outcome_class(mine, theirs),
                    short(&essence(mine)),
                    short(&essence(theirs)),
                );
            }
            for (listener, steps) in &wanted.heard {
                let theirs = got.heard.get(listener).and_then(|steps| steps.get(step));
                if let Some((class, mine, theirs)) = first_event(steps.get(step), theirs) {
                    return at(format!("{class}, as {listener} hears it"), mine, theirs);
                }
            }
        }
        if wanted.last == got.last {
            return None;
        }
        let class = format!("the end: {}", fields(&wanted.last, &got.last));
        let step = scenario.steps.len();
        Some(Self { class, step, wanted: short(&wanted.last), got: short(&got.last) })
    }
}

/// The class of the first event that differs, with both.
fn first_event(
    mine: Option<&Vec<Event>>,
    theirs: Option<&Vec<Event>>,
) -> Option<(String, String, String)> {
    let (mine, theirs) =
        (mine.map_or(&[][..], Vec::as_slice), theirs.map_or(&[][..], Vec::as_slice));
    let place = (0..mine.len().max(theirs.len()))
        .find(|at| !is_same_event(mine.get(*at), theirs.get(*at)))?;
    let (mine, theirs) = (mine.get(place), theirs.get(place));
    Some((event_class(mine, theirs), shown_event(mine), shown_event(theirs)))
}

fn is_same_event(mine: Option<&Event>, theirs: Option<&Event>) -> bool {
    let parts = |event: &Event| (event.name.clone(), event.args.clone());
    mine.map(parts) == theirs.map(parts)
}

/// The part of an outcome that has to be the same in every style.
fn essence(outcome: &Outcome) -> Value {
    let members = &outcome.members;
    if let Some(error) = members.get("error") {
        return json!({ "error": error });
    }
    if members.contains_key("result_undefined") {
        return json!("undefined");
    }
    json!({ "result": members.get("result") })
}

fn outcome_class(mine: &Outcome, theirs: &Outcome) -> String {
    let (mine, theirs) = (essence(mine), essence(theirs));
    let kind = |value: &Value| match value.get("error").and_then(|error| error.get("kind")) {
        Some(kind) => kind.as_str().unwrap_or_default().to_owned(),
        None if value.get("result").is_some() => "a result".to_owned(),
        None => "undefined".to_owned(),
    };
    match (kind(&mine), kind(&theirs)) {
        (mine, theirs) if mine != theirs => format!("{mine}, not {theirs}"),
        (kind, _) if kind != "a result" => format!("{kind}: another text"),
        _ => format!("result: {}", fields(&mine, &theirs)),
    }
}

fn event_class(mine: Option<&Event>, theirs: Option<&Event>) -> String {
    let same = mine.zip(theirs).filter(|(mine, theirs)| label(mine) == label(theirs));
    match same {
        Some((mine, theirs)) if subject(mine) == subject(theirs) => {
            format!("{}: {}", label(mine), fields(&mine.args, &theirs.args))
        }
        Some((mine, _)) => format!("{} of another", label(mine)),
        None => {
            let name = |event: Option<&Event>| event.map_or_else(|| "none".to_owned(), label);
            format!("{}, not {}", name(mine), name(theirs))
        }
    }
}

/// An event with the names of what changed.
fn label(event: &Event) -> String {
    let changes =
        event.args.get(1).and_then(Value::as_object).filter(|_| event.name == "tabs.onUpdated");
    match changes {
        Some(changes) => {
            let names: Vec<_> = changes.keys().map(String::as_str).collect();
            format!("{} {{{}}}", event.name, names.join(", "))
        }
        None => event.name.clone(),
    }
}

/// The tab, window or group that an event is about.
fn subject(event: &Event) -> Option<&Value> {
    let first = event.args.get(0)?;
    let named = ["id", "tabId", "windowId"].iter().find_map(|name| first.get(*name));
    Some(named.unwrap_or(first))
}

fn shown_event(event: Option<&Event>) -> String {
    event.map_or_else(|| "no event".to_owned(), show::event)
}

/// The names of the members that differ.
fn fields(mine: &Value, theirs: &Value) -> String {
    let mut names = BTreeSet::new();
    collect(mine, theirs, "value", &mut names);
    names.into_iter().collect::<Vec<_>>().join(", ")
}

fn collect(mine: &Value, theirs: &Value, name: &str, names: &mut BTreeSet<String>) {
    match (mine, theirs) {
        (Value::Object(mine), Value::Object(theirs)) => {
            for key in mine.keys().chain(theirs.keys()) {
                match (mine.get(key), theirs.get(key)) {
                    (Some(mine), Some(theirs)) => collect(mine, theirs, key, names),
                    _ => {
                        names.insert(key.clone());
                    }
                }
            }
        }
        (Value::Array(mine), Value::Array(theirs)) if mine.len() == theirs.len() => {
            for (mine, theirs) in mine.iter().zip(theirs) {
                collect(mine, theirs, name, names);
            }
        }
        _ if mine == theirs => {}
        _ => {
            names.insert(name.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scenario::Step;
    use super::*;

    fn trace(result: Value, events: &[(&str, Value)]) -> Trace {
        let members = json!({ "result": result }).as_object().cloned().unwrap();
        let heard = |(name, args): &(&str, Value)| Event {
            name: (*name).to_owned(),
            args: args.clone(),
            is_before_result: true,
        };
        Trace {
            outcomes: vec![Outcome { members }],
            events: vec![events.iter().map(heard).collect()],
            heard: std::collections::BTreeMap::new(),
            last: Value::Null,
        }
    }

    fn class(wanted: &Trace, got: &Trace) -> Option<String> {
        let [name, description, variant] = ["one", "", "full"].map(str::to_owned);
        let steps = vec![Step::new("tabs.move", Vec::new())];
        let scenario =
            Scenario { name, description, variant, listeners: Vec::new(), generated: None, steps };
        Mismatch::first(&scenario, wanted, got).map(|mismatch| mismatch.class)
    }

    #[test]
    fn a_class_names_the_operation_the_event_and_the_fields() {
        let moved = |index: i64| [("tabs.onMoved", json!(["$T1", { "toIndex": index }]))];
        let wanted = trace(json!({ "index": 1 }), &moved(1));
        assert_eq!(class(&wanted, &wanted), None);
        let other = trace(json!({ "index": 1 }), &moved(2));
        assert_eq!(class(&wanted, &other).unwrap(), "tabs.move tabs.onMoved: toIndex");
        let silent = trace(json!({ "index": 1 }), &[]);
        assert_eq!(class(&wanted, &silent).unwrap(), "tabs.move tabs.onMoved, not none");
        let other = trace(json!({ "index": 2, "pinned": true }), &moved(1));
        assert_eq!(class(&wanted, &other).unwrap(), "tabs.move result: index, pinned");
    }

    #[test]
    fn events_of_the_focus_do_not_count() {
        let wanted = trace(json!(1), &[("windows.onFocusChanged", json!([-1]))]);
        assert_eq!(class(&wanted, &trace(json!(1), &[])), None);
    }
}
