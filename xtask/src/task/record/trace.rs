//! A run of a scenario: what came of each call, and which events were heard.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Map, Value, json};

use super::contract::Contract;
use super::scenario::{Scenario, Step};
use super::symbols::Symbols;

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    /// The members that a file adds to the step: `result`, `result_undefined`, `error`, ...
    pub members: Map<String, Value>,
}

/// An event that was heard.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Event {
    /// Its full name.
    pub name: String,
    /// The arguments of its listeners.
    pub args: Value,
    /// True if it came before the outcome of the call.
    pub is_before_result: bool,
}

/// A run of a scenario, with names in place of ids.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trace {
    /// The outcome of each step.
    pub outcomes: Vec<Outcome>,
    /// The events of each step.
    pub events: Vec<Vec<Event>>,
    /// The events of each step that each listener heard.
    pub heard: BTreeMap<String, Vec<Vec<Event>>>,
    /// All windows with their tabs, after the last step.
    pub last: Value,
}

impl Trace {
    /// Runs a scenario.
    ///
    /// # Errors
    /// If the browser does not answer, or does not know a step.
    pub(super) fn take(contract: &Contract, scenario: &Scenario) -> Result<Self> {
        let start = contract.reset(&scenario.variant, &scenario.listeners)?;
        let mut symbols = Symbols::new(start.extension);
        let mut ids = BTreeMap::new();
        for (name, id) in start.ids {
            symbols.bind(&name, &id);
            ids.insert(name, id);
        }
        let mut raw: Vec<(Value, Vec<Value>)> = Vec::new();
        let mut seen = 0;
        let mut others = Others::of(scenario);
        for step in &scenario.steps {
            let answer = make(contract, step, &ids)?;
            for (name, place) in &step.save {
                let id = saved(&answer, place);
                if let Some(id) = id.filter(|id| !id.is_null()) {
                    symbols.bind(name, id);
                    ids.insert(name.clone(), id.clone());
                }
            }
            let events = contract.events(seen, step.settle())?;
            seen += events.len();
            raw.push((answer, events));
            others.listen(contract)?;
        }
        let late = contract.events(seen, "full")?;
        if let Some((_, events)) = raw.last_mut() {
            events.extend(late);
        }
        others.listen_again(contract)?;
        let all = json!({ "op": "windows.getAll", "args": [{ "populate": true }] });
        let last = contract.call(&all)?.get("result").cloned().unwrap_or_default();
        for (answer, events) in &raw {
            for event in events {
                symbols.see_event(name_of(event), args_of(event));
            }
            symbols.see_result(answer.get("result").unwrap_or(&Value::Null));
        }
        symbols.see_result(&last);
        Ok(Self {
            outcomes: raw.iter().map(|(answer, _)| outcome(answer, &symbols)).collect(),
            events: raw.iter().map(|(answer, events)| heard(answer, events, &symbols)).collect(),
            heard: others.named(&symbols),
            last: symbols.named(&last),
        })
    }

    /// The same without what the window manager does now so and now so: events of the focus, and on which side of a result an event came.
    pub(super) fn steady(&self) -> Self {
        let mut trace = self.clone();
        for events in trace.all_events() {
            events.retain(|event| event.name != "windows.onFocusChanged");
            for event in events.iter_mut() {
                event.is_before_result = false;
            }
        }
        trace
    }

    /// The steady part, with the loads of several tabs that ran at once told one tab after the other.
    pub(super) fn tab_by_tab(&self) -> Self {
        let mut trace = self.steady();
        let is_load = |event: &Event| event.loading_tab().is_some();
        for events in trace.all_events() {
            for loads in events.chunk_by_mut(|one, next| is_load(one) && is_load(next)) {
                loads.sort_by_key(|event| event.loading_tab().map(str::to_owned));
            }
        }
        trace
    }

    fn all_events(&mut self) -> impl Iterator<Item = &mut Vec<Event>> {
        self.events.iter_mut().chain(self.heard.values_mut().flatten())
    }
}

impl Event {
    /// The tab whose page it tells to load.
    fn loading_tab(&self) -> Option<&str> {
        let tab = self.args.get(0)?;
        match self.name.as_str() {
            "tabs.onUpdated" => {
                let change = self.args.get(1)?;
                let tells = |name| change.get(name).is_some_and(Value::is_string);
                ["status", "title", "favIconUrl"].into_iter().any(tells).then_some(tab.as_str()?)
            }
            "tabs.onZoomChange" => tab.get("tabId")?.as_str(),
            _ => None,
        }
    }
}

/// The events that the listeners hear, step by step.
struct Others(BTreeMap<String, Vec<Vec<Value>>>);

impl Others {
    fn of(scenario: &Scenario) -> Self {
        Self(scenario.listeners.iter().map(|listener| (listener.clone(), Vec::new())).collect())
    }

    /// Asks what was heard since the step before.
    fn listen(&mut self, contract: &Contract) -> Result<()> {
        for (listener, steps) in &mut self.0 {
            let seen = steps.iter().map(Vec::len).sum();
            steps.push(contract.heard(listener, seen)?);
        }
        Ok(())
    }

    /// Asks once more, for what belongs to the last step.
    fn listen_again(&mut self, contract: &Contract) -> Result<()> {
        self.listen(contract)?;
        for steps in self.0.values_mut() {
            let late = steps.pop().unwrap_or_default();
            if let Some(last) = steps.last_mut() {
                last.extend(late);
            }
        }
        Ok(())
    }

    fn named(self, symbols: &Symbols) -> BTreeMap<String, Vec<Vec<Event>>> {
        let named = |steps: Vec<Vec<Value>>| {
            steps.iter().map(|events| heard(&Value::Null, events, symbols)).collect()
        };
        self.0.into_iter().map(|(listener, steps)| (listener, named(steps))).collect()
    }
}

fn make(contract: &Contract, step: &Step, ids: &BTreeMap<String, Value>) -> Result<Value> {
    if step.op == "harness.sleep" {
        let length = step.args.first().and_then(Value::as_u64).unwrap_or(0);
        std::thread::sleep(Duration::from_millis(length));
        return Ok(json!({ "result": null }));
    }
    let mut call = step.json();
    call.insert("args".into(), step.args.iter().map(|arg| resolved(arg, ids)).collect());
    let answer = contract.call(&Value::Object(call))?;
    if answer.get("unsupported").is_some() {
        bail!("{} is not supported here", step.op);
    }
    Ok(answer)
}

/// Ids in place of their names.
fn resolved(value: &Value, ids: &BTreeMap<String, Value>) -> Value {
    match value {
        Value::String(text) => {
            text.strip_prefix('$').and_then(|name| ids.get(name)).unwrap_or(value).clone()
        }
        Value::Array(items) => items.iter().map(|item| resolved(item, ids)).collect(),
        Value::Object(members) => Value::Object(
            members.iter().map(|(name, value)| (name.clone(), resolved(value, ids))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn saved<'answer>(answer: &'answer Value, place: &str) -> Option<&'answer Value> {
    let parts = place.split('.').filter(|part| !part.is_empty());
    answer.get("result")?.pointer(&parts.map(|part| format!("/{part}")).collect::<String>())
}

fn name_of(event: &Value) -> &str {
    event.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn args_of(event: &Value) -> &Value {
    event.get("args").unwrap_or(&Value::Null)
}

fn outcome(answer: &Value, symbols: &Symbols) -> Outcome {
    let mut members = Map::new();
    let result = answer.get("result").filter(|_| answer.get("error").is_none());
    if let Some(error) = answer.get("error") {
        let mut error = symbols.named(error);
        if let Some(error) = error.as_object_mut() {
            // The name follows from the kind.
            error.remove("name");
            if error.get("kind") == Some(&json!("pending")) {
                error.remove("message");
            }
        }
        members.insert("error".into(), error);
    } else if answer.get("undef") == Some(&Value::Bool(true)) {
        members.insert("result_undefined".into(), true.into());
    } else if let Some(result) = result {
        members.insert("result".into(), symbols.named(result));
    }
    for name in ["callback_args", "returned"] {
        if let Some(value) = answer.get(name) {
            members.insert(name.into(), value.clone());
        }
    }
    Outcome { members }
}

fn heard(answer: &Value, events: &[Value], symbols: &Symbols) -> Vec<Event> {
    let mark =
        answer.get("mark").and_then(Value::as_u64).and_then(|mark| usize::try_from(mark).ok());
    let heard = events.iter().enumerate().map(|(at, event)| {
        let mut args = symbols.named(args_of(event));
        if name_of(event) == "tabs.onHighlighted"
            && let Some(ids) = args.pointer_mut("/0/tabIds").and_then(Value::as_array_mut)
        {
            // The browser gives them in the order of a hash.
            ids.sort_by_key(Value::to_string);
        }
        let is_before_result = mark.is_some_and(|mark| at < mark);
        Event { name: name_of(event).to_owned(), args, is_before_result }
    });
    heard.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_ids_wherever_they_stand() {
        let ids = BTreeMap::from([("T2".to_owned(), json!(7))]);
        let args = json!([["$T2", "$T3"], { "openerTabId": "$T2", "title": "T2" }]);
        let expected = json!([[7, "$T3"], { "openerTabId": 7, "title": "T2" }]);
        assert_eq!(resolved(&args, &ids), expected);
    }

    #[test]
    fn an_outcome_keeps_what_a_file_says_of_it() {
        let symbols = Symbols::new(String::new());
        let kept = |answer: Value| Value::Object(outcome(&answer, &symbols).members);
        assert_eq!(kept(json!({ "result": null, "mark": 2 })), json!({ "result": null }));
        assert_eq!(
            kept(
                json!({ "result": null, "undef": true, "callback_args": 1, "returned": "undefined" })
            ),
            json!({ "result_undefined": true, "callback_args": 1, "returned": "undefined" })
        );
        assert_eq!(
            kept(json!({ "error": { "kind": "reject", "name": "Error", "message": "no" } })),
            json!({ "error": { "kind": "reject", "message": "no" } })
        );
    }
}
