//! What was recorded of a scenario: every run, and whether they agree.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::scenario::{Scenario, write};
use super::trace::{Event, Trace};

/// A scenario with its runs.
#[derive(Debug)]
pub(super) struct Recording {
    /// What was asked.
    pub scenario: Scenario,
    /// What the browser did, each time.
    pub runs: Vec<Trace>,
}

impl Recording {
    /// Whether the browser did the same every time, and more than once.
    pub(super) fn is_stable(&self) -> bool {
        self.runs.len() > 1 && self.agree(Trace::clone)
    }

    fn agree<T: PartialEq>(&self, part: impl Fn(&Trace) -> T) -> bool {
        let mut parts = self.runs.iter().map(|run| part(&run.steady()));
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
            "events": self.agree(|run| (run.events.clone(), run.heard.clone())),
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
        members.extend(scenario.generated.clone().map(|generated| ("generated", generated)));
        members.push(("steps", steps.collect()));
        members.push(("events", listed(&first.events)));
        let heard = first.heard.iter().map(|(listener, steps)| (listener.clone(), listed(steps)));
        members.push(("heard", Value::Object(heard.collect())));
        members.push(("final_windows", first.last.clone()));
        if !is_stable {
            members.push((
                "events_alternatives",
                others.iter().map(|run| listed(&run.events)).collect(),
            ));
        }
        let is_said = |value: &Value| {
            value.as_array().is_none_or(|items| !items.is_empty())
                && value.as_object().is_none_or(|members| !members.is_empty())
        };
        members.retain(|(name, value)| !["listeners", "heard"].contains(name) || is_said(value));
        write(&folder.join(format!("{}.json", scenario.name)), &members)
    }
}

fn listed(steps: &[Vec<Event>]) -> Value {
    let line = |step: usize, Event { name, args, is_before_result }: &Event| json!({ "step": step, "before_result": is_before_result, "name": name, "args": args });
    let steps = steps.iter().enumerate();
    steps.flat_map(|(step, events)| events.iter().map(move |event| line(step, event))).collect()
}
