//! Scenarios made up from the table of operations: a new operation is called as soon as it has a row.

use serde_json::{Value, json};

use super::argument::Arguments;
use super::hand;
use super::page;
use super::random::Random;
use super::scenario::{Scenario, Step};
use super::sketch::Sketch;
use super::table::Operation;
use super::theme::Theme;

/// The numbers that make one scenario differ from another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seed {
    /// The number given by whoever asks.
    pub seed: u64,
    /// The number of the scenario among those of that seed.
    pub number: usize,
    /// About how many steps it has.
    pub length: usize,
}

/// The shortest scenario.
const LENGTH_MIN: usize = 8;

/// Makes up a scenario. The same seed, theme and table give the same one.
pub(super) fn generate(table: &[Operation], theme: &'static Theme, seed: Seed) -> Scenario {
    let mut random =
        Random::of(&format!("{}/{}/{}/{}", seed.seed, theme.name, seed.number, seed.length));
    let variant = random.pick(theme.variants).copied().unwrap_or("full");
    let length = (seed.length + random.below(10)).saturating_sub(4).max(LENGTH_MIN);
    // Zoom belongs to a host for as long as the browser runs, so each scenario has hosts of its own.
    let zooms = ["tabs.setZoom", "tabs.setZoomSettings"].iter().any(|name| theme.weight(name) > 0);
    let hosts = match theme.name {
        "messaging" => vec!["cs.test".to_owned(), "cs.test".to_owned(), "a.test".to_owned()],
        _ if zooms => {
            ["a", "b"].map(|end| format!("z{}x{}{end}.test", seed.seed, seed.number)).into()
        }
        _ => ["a.test", "b.test"].map(str::to_owned).into(),
    };
    let arguments = Arguments { random, sketch: Sketch::new(), theme, hosts };
    let mut generator = Generator { table, arguments, steps: Vec::new() };
    generator.set_up();
    while generator.steps.len() < length {
        generator.add();
    }
    generator.steps.push(Step::new("tabs.query", vec![json!({})]));
    Scenario {
        name: format!("gen-{}-{}-{:03}", theme.name, seed.seed, seed.number),
        description: format!("generated: {}", theme.name),
        variant: variant.to_owned(),
        listeners: theme.listeners.iter().map(|listener| (*listener).to_owned()).collect(),
        generated: Some(
            json!({ "seed": seed.seed, "theme": theme.name, "number": seed.number, "length": seed.length }),
        ),
        steps: generator.steps,
    }
}

struct Generator<'table> {
    table: &'table [Operation],
    arguments: Arguments,
    steps: Vec<Step>,
}

impl Generator<'_> {
    /// Opens the tabs and windows that a scenario starts with.
    fn set_up(&mut self) {
        let (low, high) = self.arguments.theme.tabs;
        for _ in 0..low + self.arguments.random.below(high - low + 1) {
            let is_active = self.arguments.random.chance(25);
            let url = self.arguments.page_url();
            self.push(Step::new("tabs.create", vec![json!({ "url": url, "active": is_active })]));
        }
        if self.arguments.theme.operations.iter().any(|(name, _)| *name == "across") {
            return self.put_side_by_side();
        }
        if self.arguments.random.chance(self.arguments.theme.second_window) {
            let made = json!({ "url": "about:blank", "focused": false });
            self.push(Step::new("windows.create", vec![made]));
        }
    }

    /// Puts two windows side by side, so that tabs can be dragged from one to the other.
    fn put_side_by_side(&mut self) {
        let [first, second] = hand::SIDE_BY_SIDE;
        let placed = |(left, top, width, height): (usize, usize, usize, usize)| json!({ "left": left, "top": top, "width": width, "height": height });
        self.push(Step::new("windows.update", vec!["$W1".into(), placed(first)]));
        let url = self.arguments.page_url();
        self.push(Step::new("windows.create", vec![json!({ "url": url, "focused": false })]));
        // It opens where the browser was told to; it goes to its place from there.
        let opened = self.arguments.sketch.windows.last().map(|window| window.name.clone());
        let opened = opened.unwrap_or_else(|| "$W1".to_owned());
        self.push(Step::new("windows.update", vec![opened.clone().into(), placed(second)]));
        if self.arguments.random.chance(60) {
            let url = self.arguments.page_url();
            let made = json!({ "url": url, "windowId": opened, "active": false });
            self.push(Step::new("tabs.create", vec![made]));
        }
        self.nap();
    }

    fn push(&mut self, mut step: Step) {
        self.arguments.sketch.follow(&mut step);
        self.steps.push(step);
    }

    /// Adds a step of the theme's.
    fn add(&mut self) {
        let theme = self.arguments.theme;
        let rows = self.table.iter().map(|row| (row.name.as_str(), theme.weight(&row.name)));
        let acts = ["page", "port", "nap", "send", "hand", "answer", "across"];
        let acts = acts.iter().map(|name| {
            let weight = theme.operations.iter().find(|(known, _)| known == name);
            (*name, weight.map_or(0, |(_, weight)| *weight))
        });
        let choices: Vec<_> = rows.chain(acts).collect();
        let Some(name) = self.arguments.random.weighted(&choices).copied() else { return };
        match name {
            "page" => self.act_in_page(),
            "port" => self.use_port(),
            "nap" => self.nap(),
            "send" => self.send(),
            "hand" => self.act_by_hand(),
            "answer" => {
                let line = hand::answer(&mut self.arguments.random);
                self.steps.push(Step::new("harness.control", line).with("settle", "quiet"));
            }
            "across" => self.drag_across(),
            _ => self.call(name),
        }
    }

    fn call(&mut self, name: &str) {
        let Some(operation) = self.table.iter().find(|row| row.name == name) else { return };
        let is_wrong = self.arguments.random.chance(self.arguments.theme.wrong);
        let Some(mut args) = self.arguments.of(operation) else { return };
        if is_wrong {
            self.arguments.spoil(&mut args);
        }
        let mut step = Step::new(name, args);
        if operation.takes_callback && self.arguments.random.chance(self.arguments.theme.callbacks)
        {
            step = step.with("style", "callback");
        }
        match name {
            "tabs.connect" => step = step.with("port", self.arguments.sketch.name('P')),
            // A page that is never shown has no language, and a covered window no picture.
            "tabs.detectLanguage" | "tabs.captureVisibleTab" => step = step.with("timeout", 2_000),
            _ => {}
        }
        if is_wrong {
            return self.steps.push(step);
        }
        if let Some(port) = step.how.get("port").and_then(Value::as_str) {
            self.arguments.sketch.ports.push(port.to_owned());
        }
        let is_slow = Value::from(step.args.clone()).to_string().contains("/slow");
        if is_slow && self.arguments.random.chance(60) {
            self.push(step.with("settle", "none"));
            return self
                .steps
                .push(Step::new("harness.sleep", vec![500.into()]).with("settle", "none"));
        }
        if name == "tabs.captureVisibleTab" {
            // Two in a second are allowed.
            self.steps.push(Step::new("harness.sleep", vec![1_100.into()]));
        }
        self.push(step);
    }

    fn nap(&mut self) {
        let length = if self.arguments.random.chance(70) { 900 } else { 1_700 };
        self.steps.push(Step::new("harness.sleep", vec![length.into()]));
    }

    /// Code in a page, run as a user's gesture.
    fn act_in_page(&mut self) {
        let pages: Vec<_> = self
            .arguments
            .sketch
            .tabs()
            .filter(|tab| tab.is_page())
            .map(|tab| tab.name.clone())
            .collect();
        let Some(tab) = self.arguments.random.pick(&pages).cloned() else { return self.nap() };
        let path = self.arguments.path();
        let codes = page::codes(self.arguments.theme.name);
        let Some(code) = self.arguments.random.weighted(&codes).copied() else { return };
        let code = code.replace("PATH", &path).replace("NAME", &format!("w{}", self.steps.len()));
        let mut step = Step::new("harness.act", vec![tab.clone().into(), code.clone().into()]);
        if code.starts_with("window.close") {
            let mut closed = Step::new("tabs.remove", vec![tab.into()]);
            self.arguments.sketch.follow(&mut closed);
        }
        self.arguments.sketch.follow(&mut step);
        self.steps.push(step);
    }

    /// Pointer and keys, in the one window that there is.
    fn act_by_hand(&mut self) {
        let tabs = self.arguments.sketch.tabs().count();
        let random = &mut self.arguments.random;
        let lines = if random.chance(20) {
            hand::drag(random, tabs)
        } else {
            vec![hand::line(random, tabs)]
        };
        for line in lines {
            self.steps.push(Step::new("harness.control", line).with("settle", "quiet"));
        }
    }

    /// Drags a tab from one of two windows to the other, or out of both.
    fn drag_across(&mut self) {
        let counts = self.arguments.sketch.windows.iter().map(|window| window.tabs.len());
        let mut counts = counts.chain([1, 1]);
        let tabs = [counts.next().unwrap_or(1), counts.next().unwrap_or(1)];
        for line in hand::drag_across(&mut self.arguments.random, tabs) {
            self.steps.push(match line {
                Some(line) => Step::new("harness.control", line).with("settle", "quiet"),
                None => Step::new("harness.sleep", vec![250.into()]),
            });
        }
    }

    fn use_port(&mut self) {
        let Some(port) = self.arguments.random.pick(&self.arguments.sketch.ports.clone()).cloned()
        else {
            return self.call("tabs.connect");
        };
        let uses = [
            json!([port, "postMessage", { "n": 1 }]),
            json!([port, "postMessage", "text"]),
            json!([port, "postMessage", { "cmd": "disconnect" }]),
            json!([port, "disconnect"]),
        ];
        let chosen = self.arguments.random.pick(&uses).and_then(Value::as_array).cloned();
        self.steps.push(Step::new("harness.port", chosen.unwrap_or_default()));
    }

    /// A message of a kind that the content script knows.
    fn send(&mut self) {
        let commands =
            ["echo", "async", "none", "undefined", "null", "throw", "promise", "toponly", "other"];
        let Some(command) = self.arguments.random.pick(&commands).copied() else { return };
        let Some(tab) = self.arguments.tab() else { return };
        let mut args = vec![tab, json!({ "cmd": command })];
        if self.arguments.random.chance(30) {
            args.push(json!({ "frameId": 0 }));
        }
        let mut step = Step::new("tabs.sendMessage", args);
        if self.arguments.random.chance(self.arguments.theme.callbacks) {
            step = step.with("style", "callback");
        }
        self.steps.push(step);
    }
}

#[cfg(test)]
mod tests {
    use super::super::table;
    use super::super::theme::THEMES;
    use super::*;

    fn table() -> Vec<Operation> {
        let rows = json!({ "operations": [
            { "name": "tabs.create", "callback": true, "parameters": [{ "name": "createProperties", "optional": false, "schema": { "type": "object", "properties": {
                "url": { "required": false, "schema": { "type": "string" } }, "index": { "required": false, "schema": { "type": "integer", "minimum": 0 } } } } }] },
            { "name": "tabs.shine", "callback": true, "parameters": [{ "name": "tabId", "optional": false, "schema": { "type": "integer", "minimum": 0 } }] }] });
        table::read(&rows).unwrap()
    }

    #[test]
    fn the_same_seed_gives_the_same_scenario_in_every_theme() {
        for theme in THEMES {
            let seed = Seed { seed: 100_000, number: 3, length: 12 };
            let make = |seed| generate(&table(), theme, seed).steps;
            assert_eq!(make(seed), make(seed));
            assert_ne!(make(seed), make(Seed { number: 4, ..seed }), "{}", theme.name);
        }
    }

    #[test]
    fn an_operation_is_called_because_it_has_a_row() {
        let theme = Theme::find("mixed").unwrap();
        let scenarios =
            (0..20).map(|number| generate(&table(), theme, Seed { seed: 1, number, length: 12 }));
        let calls =
            scenarios.flat_map(|scenario| scenario.steps).filter(|step| step.op == "tabs.shine");
        let on_tabs = calls.filter(|step| {
            step.args.first().and_then(Value::as_str).is_some_and(|tab| tab.starts_with("$T"))
        });
        assert!(on_tabs.count() > 5);
    }

    #[test]
    fn names_are_used_after_they_were_saved() {
        for theme in THEMES {
            let scenario = generate(&table(), theme, Seed { seed: 100_001, number: 0, length: 20 });
            let mut known = vec!["\"$T1\"".to_owned(), "\"$W1\"".to_owned()];
            for step in &scenario.steps {
                let text = Value::from(step.args.clone()).to_string();
                for used in text
                    .split(['[', ']', '{', '}', ',', ':'])
                    .filter(|part| part.starts_with("\"$T") || part.starts_with("\"$W"))
                {
                    assert!(known.iter().any(|name| name == used), "{used} in {}", scenario.name);
                }
                known.extend(step.save.iter().map(|(name, _)| format!("\"${name}\"")));
            }
        }
    }
}
