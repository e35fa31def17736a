//! Scenarios: lists of calls, and the files that they and their recordings are kept in.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use serde_json::{Map, Value, json};

/// One call of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    /// `tabs.create`, `harness.sleep`, ...
    pub op: String,
    /// Its arguments; `"$T2"` stands for an id that an earlier step saved.
    pub args: Vec<Value>,
    /// Names of ids in its result, with their places in it.
    pub save: Vec<(String, String)>,
    /// Its other members: `style`, `context`, `by`, `settle`, `port`, `timeout`.
    pub how: Map<String, Value>,
}

/// The members of a step that say how it is done.
const HOW: [&str; 6] = ["style", "context", "by", "settle", "port", "timeout"];

impl Step {
    /// A call with its arguments.
    pub(super) fn new(op: &str, args: Vec<Value>) -> Self {
        Self { op: op.to_owned(), args, save: Vec::new(), how: Map::new() }
    }

    /// The same, with the name of an id in its result.
    #[cfg(test)]
    pub(super) fn saving(mut self, name: &str, place: &str) -> Self {
        self.save.push((name.to_owned(), place.to_owned()));
        self
    }

    /// The same, done in a way of its own.
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.how.insert(name.to_owned(), value.into());
        self
    }

    fn read(value: &Value) -> Result<Self> {
        let op = value.get("op").and_then(Value::as_str).context("a step has no op")?.to_owned();
        let args = value.get("args").and_then(Value::as_array).cloned().unwrap_or_default();
        let save = value.get("save").and_then(Value::as_object).into_iter().flatten();
        let save = save.map(|(name, place)| {
            let place = place.as_str().ok_or_else(|| anyhow!("the place of {name} is no text"))?;
            Ok((name.clone(), place.to_owned()))
        });
        let how = HOW
            .iter()
            .filter_map(|name| value.get(*name).map(|value| ((*name).to_owned(), value.clone())));
        Ok(Self { op, args, save: save.collect::<Result<_>>()?, how: how.collect() })
    }

    /// The step as a file has it.
    pub(super) fn json(&self) -> Map<String, Value> {
        let mut members = self.how.clone();
        members.insert("op".into(), self.op.clone().into());
        members.insert("args".into(), self.args.clone().into());
        if !self.save.is_empty() {
            let save = self.save.iter().map(|(name, place)| (name.clone(), place.clone().into()));
            members.insert("save".into(), Value::Object(save.collect()));
        }
        members
    }

    /// The way in which its events are waited for.
    pub(super) fn settle(&self) -> &str {
        self.how.get("settle").and_then(Value::as_str).unwrap_or("full")
    }

    /// True if it needs an id that another step saves.
    pub(super) fn needs(&self, other: &Self) -> bool {
        let text = Value::from(self.args.clone()).to_string();
        other.save.iter().any(|(name, _)| text.contains(&format!("\"${name}\"")))
    }
}

/// A list of calls.
#[derive(Debug, Clone)]
pub(super) struct Scenario {
    /// Its name, which is also the file's.
    pub name: String,
    /// Its purpose, in a sentence.
    pub description: String,
    /// The manifest of the extension that makes the calls.
    pub variant: String,
    /// The manifests of the extensions that only listen.
    pub listeners: Vec<String>,
    /// The seed that generated it.
    pub generated: Option<Value>,
    /// The calls.
    pub steps: Vec<Step>,
}

impl Scenario {
    /// Reads a file; the outcomes of a recorded one are left out.
    ///
    /// # Errors
    /// If it is no scenario.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let read = || {
            let value: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
            let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
            let steps = value.get("steps").and_then(Value::as_array).context("it has no steps")?;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Ok::<_, anyhow::Error>(Self {
                name: text("name").unwrap_or(stem),
                description: text("description").unwrap_or_default(),
                variant: text("manifest_variant").unwrap_or_else(|| "full".to_owned()),
                listeners: texts(&value, "listeners"),
                generated: value.get("generated").cloned(),
                steps: steps.iter().map(Step::read).collect::<Result<_>>()?,
            })
        };
        read().with_context(|| format!("{} is no scenario", path.display()))
    }

    /// Reads a file, or all files of a folder.
    ///
    /// # Errors
    /// If one cannot be read.
    pub(super) fn read_all(path: &Path) -> Result<Vec<Self>> {
        if path.is_file() {
            return Ok(vec![Self::read(path)?]);
        }
        let entries =
            std::fs::read_dir(path).with_context(|| format!("no folder {}", path.display()))?;
        let mut files: Vec<PathBuf> =
            entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        files.iter().map(|file| Self::read(file)).collect()
    }

    /// The scenario without one step and whatever needs it.
    pub(super) fn without(&self, at: usize) -> Self {
        let mut gone = vec![at];
        for (later, step) in self.steps.iter().enumerate().skip(at + 1) {
            let mut needed = gone.iter().filter_map(|gone| self.steps.get(*gone));
            if needed.any(|earlier| step.needs(earlier)) {
                gone.push(later);
            }
        }
        let kept = self.steps.iter().enumerate().filter(|(at, _)| !gone.contains(at));
        Self { steps: kept.map(|(_, step)| step.clone()).collect(), ..self.clone() }
    }
}

fn texts(value: &Value, name: &str) -> Vec<String> {
    let items = value.get(name).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| Some(item.as_str()?.to_owned())).collect()
}

/// Writes an object to a file: a member a line, and of lists of objects an item a line.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write(path: &Path, members: &[(&str, Value)]) -> Result<()> {
    let lines = members.iter().map(|(name, value)| {
        let is_list = |items: &Vec<Value>| items.iter().any(Value::is_object);
        let written = match value.as_array().filter(|items| is_list(items)) {
            Some(items) => {
                let items: Vec<_> = items.iter().map(|item| format!("  {item}")).collect();
                format!("[\n{}\n ]", items.join(",\n"))
            }
            None => value.to_string(),
        };
        format!(" {}: {written}", json!(name))
    });
    let text = format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join(",\n"));
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario() -> Scenario {
        let steps = vec![
            Step::new("tabs.create", vec![json!({})]).saving("T2", "id"),
            Step::new("tabs.duplicate", vec![json!("$T2")]).saving("T3", "id"),
            Step::new("tabs.query", vec![json!({})]).with("settle", "none"),
            Step::new("tabs.remove", vec![json!(["$T1", "$T3"])]),
        ];
        let [name, description, variant] = ["one", "", "full"].map(str::to_owned);
        Scenario { name, description, variant, listeners: Vec::new(), generated: None, steps }
    }

    #[test]
    fn a_step_that_is_taken_out_takes_those_with_it_that_need_its_ids() {
        let ops =
            |scenario: Scenario| scenario.steps.into_iter().map(|step| step.op).collect::<Vec<_>>();
        assert_eq!(ops(scenario().without(0)), ["tabs.query"]);
        assert_eq!(ops(scenario().without(1)), ["tabs.create", "tabs.query"]);
        assert_eq!(ops(scenario().without(2)), ["tabs.create", "tabs.duplicate", "tabs.remove"]);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.json");
        let steps: Vec<_> =
            scenario().steps.iter().map(|step| Value::Object(step.json())).collect();
        write(&path, &[("name", "one".into()), ("steps", steps.into())]).unwrap();
        assert_eq!(Scenario::read(&path).unwrap().steps, scenario().steps);
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 9);
    }
}
