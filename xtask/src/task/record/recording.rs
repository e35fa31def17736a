//! The recording of a scenario: every run, and whether they agree.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::scenario::{Scenario, write};
use super::trace::{Event, Trace};

/// A scenario with its runs.
#[derive(Debug)]
pub(super) struct Recording {
    /// The scenario that was recorded.
    pub scenario: Scenario,
    /// The trace of each run.
    pub runs: Vec<Trace>,
}

impl Recording {
    /// True if the browser did the same every time, and more than once.
    pub(super) fn is_stable(&self) -> bool {
        self.runs.len() > 1 && self.agree(Trace::steady)
    }

    /// True if there are runs that differ in nothing but the order in which several tabs loaded at once.
    fn varies_among_tabs(&self) -> bool {
        let mut seen = self.runs.iter().map(|run| (run.tab_by_tab(), run.steady()));
        let mut earlier: Vec<(Trace, Trace)> = Vec::new();
        seen.any(|(by_tab, steady)| {
            let varies = earlier.iter().any(|(other, run)| *other == by_tab && *run != steady);
            earlier.push((by_tab, steady));
            varies
        })
    }

    fn agree<T: PartialEq>(&self, part: impl Fn(&Trace) -> T) -> bool {
        let mut parts = self.runs.iter().map(part);
        let first = parts.next();
        parts.all(|other| first.as_ref() == Some(&other))
    }

    /// Writes the file of the corpus.
    ///
    /// # Errors
    /// If it cannot be written, or nothing was recorded.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let Some((first, others)) = self.runs.split_first() else { return Ok(()) };
        let scenario = &self.scenario;
        let steps = scenario.steps.iter().zip(&first.outcomes).map(|(step, outcome)| {
            let mut members = step.json();
            members.extend(outcome.members.clone());
            Value::Object(members)
        });
        let is_stable = self.is_stable();
        let stability = json!({
            "runs": self.runs.len(),
            "results": self.agree(|run| run.outcomes.clone()),
            "events": self.agree(|run| {
                let run = run.steady();
                (run.events, run.heard)
            }),
            "final": self.agree(|run| run.last.clone()),
        });
        let mut members = vec![
            ("name", scenario.name.clone().into()),
            ("description", scenario.description.clone().into()),
            ("manifest_variant", scenario.variant.clone().into()),
            ("listeners", scenario.listeners.clone().into()),
            ("stable", is_stable.into()),
            ("stability", stability),
        ];
        if self.varies_among_tabs() {
            members.push(("varies_among_tabs", true.into()));
        }
        members.extend(scenario.generated.clone().map(|generated| ("generated", generated)));
        members.push(("steps", steps.collect()));
        members.push(("events", listed(&first.events)));
        let heard = first.heard.iter().map(|(listener, steps)| (listener.clone(), listed(steps)));
        members.push(("heard", Value::Object(heard.collect())));
        members.push(("final_windows", first.last.clone()));
        if !is_stable {
            members.push(("events_alternatives", alternatives(first, others)));
        }
        let is_said = |value: &Value| {
            value.as_array().is_none_or(|items| !items.is_empty())
                && value.as_object().is_none_or(|members| !members.is_empty())
        };
        members.retain(|(name, value)| !["listeners", "heard"].contains(name) || is_said(value));
        write(&folder.join(format!("{}.json", scenario.name)), &members)
    }
}

/// The events of the runs that differ from the first one, and from one another.
fn alternatives(first: &Trace, others: &[Trace]) -> Value {
    let mut seen = vec![first.steady().events];
    let mut alternatives = Vec::new();
    for run in others {
        let events = run.steady().events;
        if !seen.contains(&events) {
            alternatives.push(listed(&run.events));
            seen.push(events);
        }
    }
    alternatives.into()
}

fn listed(steps: &[Vec<Event>]) -> Value {
    let line = |step: usize, Event { name, args, is_before_result }: &Event| json!({ "step": step, "before_result": is_before_result, "name": name, "args": args });
    let steps = steps.iter().enumerate();
    steps.flat_map(|(step, events)| events.iter().map(move |event| line(step, event))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn load(tab: &str, status: &str) -> Event {
        let args = json!([tab, { "status": status }, { "id": tab }]);
        Event { name: "tabs.onUpdated".to_owned(), args, is_before_result: false }
    }

    fn moved(tab: &str) -> Event {
        let args = json!([tab, { "fromIndex": 0, "toIndex": 1 }]);
        Event { name: "tabs.onMoved".to_owned(), args, is_before_result: true }
    }

    fn recording(runs: Vec<Vec<Event>>) -> Recording {
        let [name, description, variant] = ["one", "", "full"].map(str::to_owned);
        let scenario = Scenario {
            name,
            description,
            variant,
            listeners: Vec::new(),
            generated: None,
            steps: Vec::new(),
        };
        let run = |events| Trace {
            outcomes: Vec::new(),
            events: vec![events],
            heard: BTreeMap::new(),
            last: Value::Null,
        };
        Recording { scenario, runs: runs.into_iter().map(run).collect() }
    }

    #[test]
    fn runs_that_load_tabs_in_another_order_are_not_stable() {
        let one = vec![load("$T1", "loading"), load("$T1", "complete"), load("$T2", "loading")];
        let other = vec![load("$T1", "loading"), load("$T2", "loading"), load("$T1", "complete")];
        let varies = recording(vec![one.clone(), other]);
        assert!(!varies.is_stable());
        assert!(varies.varies_among_tabs());
        let same = recording(vec![one.clone(), one.clone()]);
        assert!(same.is_stable());
        assert!(!same.varies_among_tabs());
        // The order of one tab's own loads counts.
        let turned = vec![load("$T1", "complete"), load("$T1", "loading"), load("$T2", "loading")];
        assert!(!recording(vec![one, turned]).varies_among_tabs());
    }

    #[test]
    fn the_order_of_everything_else_counts() {
        let one = vec![moved("$T1"), load("$T1", "loading")];
        let other = vec![load("$T1", "loading"), moved("$T1")];
        let recording = recording(vec![one, other]);
        assert!(!recording.is_stable());
        assert!(!recording.varies_among_tabs());
    }

    #[test]
    fn each_other_order_is_kept_once() {
        let one = vec![load("$T1", "loading"), load("$T2", "loading")];
        let other = vec![load("$T2", "loading"), load("$T1", "loading")];
        let runs = recording(vec![one.clone(), other.clone(), one, other]).runs;
        let (first, others) = runs.split_first().unwrap();
        assert_eq!(alternatives(first, others).as_array().map(Vec::len), Some(1));
    }
}
