//! Arguments of calls, drawn by what a parameter is called and, where the name says nothing, by what it takes.

use serde_json::{Map, Value, json};

use super::random::Random;
use super::sketch::{Sketch, Window};
use super::table::{Member, Operation, Schema};
use super::theme::Theme;

/// Draws arguments that fit the picture of the browser.
#[derive(Debug)]
pub(super) struct Arguments {
    /// The source of chance.
    pub random: Random,
    /// The picture of the browser.
    pub sketch: Sketch,
    /// The theme of the scenario.
    pub theme: &'static Theme,
    /// The hosts of its pages.
    pub hosts: Vec<String>,
}

/// The share of calls that have a property, in percent, where it is not like others.
const ODDS: &[(&str, &str, usize)] = &[
    ("tabs.create", "url", 97),
    ("tabs.create", "active", 70),
    ("tabs.create", "index", 40),
    ("tabs.create", "openerTabId", 30),
    ("tabs.move", "windowId", 40),
    ("tabs.group", "groupId", 40),
    ("tabs.group", "createProperties", 25),
    ("tabGroups.move", "windowId", 35),
    ("windows.create", "url", 75),
    ("windows.create", "tabId", 35),
    ("windows.create", "focused", 70),
    ("windows.create", "type", 25),
    ("windows.update", "focused", 90),
    ("windows.getAll", "populate", 70),
];

/// Properties that are rare, whatever has them.
const RARE: &[&str] = &[
    "documentId",
    "drawAttention",
    "height",
    "incognito",
    "left",
    "selected",
    "setSelfAsOpener",
    "shared",
    "splitViewId",
    "state",
    "top",
    "width",
];

/// Properties that are not given together.
const APART: &[(&str, &str, &str)] =
    &[("tabs.group", "groupId", "createProperties"), ("windows.create", "tabId", "url")];

impl Arguments {
    /// The arguments of a call; `None` where there is nothing to call it on.
    pub(super) fn of(&mut self, operation: &Operation) -> Option<Vec<Value>> {
        let mut args = Vec::new();
        for (at, parameter) in operation.parameters.iter().enumerate() {
            let is_last = at + 1 == operation.parameters.len();
            // A session has a name that nobody knows before, so that what is named is none.
            let odds = match parameter.name.as_str() {
                "sessionId" => 8,
                _ if is_last => 70,
                _ => 88,
            };
            let is_given = parameter.is_required || self.random.chance(odds);
            if !is_given {
                args.push(Value::Null);
                continue;
            }
            args.push(self.value(&operation.name, parameter)?);
        }
        while args.last().is_some_and(Value::is_null) {
            args.pop();
        }
        // A call whose first of two arguments is left out is made with the second alone.
        if matches!(args.as_slice(), [Value::Null, Value::Object(_)]) && self.random.chance(80) {
            args.remove(0);
        }
        Some(args)
    }

    fn value(&mut self, op: &str, member: &Member) -> Option<Value> {
        self.by_name(op, member).or_else(|| self.by_schema(op, &member.schema))
    }

    /// A value for a name that says what is meant.
    fn by_name(&mut self, op: &str, member: &Member) -> Option<Value> {
        let is_text = matches!(member.schema, Schema::Text | Schema::Choice(_));
        Some(match member.name.as_str() {
            "tabId" if op == "windows.create" => self.one(&self.sketch.movable())?,
            "tabId" | "openerTabId" => self.tab()?,
            "tabIds" => self.tabs(op)?,
            "windowId" => self.window(op)?,
            "groupId" => self.group(&member.schema)?,
            "index" => self.index(&member.schema, None),
            "url" if is_text && op.ends_with(".query") => self.patterns(),
            "url" if is_text => self.urls(op),
            "title" if op == "tabs.query" => self.word(&[
                "Page A",
                "Page ?",
                "*",
                "?age A",
                "Page*",
                "a*c",
                "about:blank",
                "",
                "*page",
            ]),
            "title" => self.word(&["", "x", "news", "ünï"]),
            "name" => self.word(&["", "n", "port"]),
            "message" => json!({ "cmd": self.word(&["echo", "none", "undefined", "async"]) }),
            "documentId" => "x".into(),
            "frameId" => self.one(&[json!(0), json!(0), json!(0), json!(999)])?,
            "zoomFactor" => self.one(&[
                json!(0),
                json!(0.5),
                json!(1),
                json!(1.1),
                json!(1.5),
                json!(2),
                json!(5),
                json!(-1),
            ])?,
            "quality" => self.one(&[json!(0), json!(50), json!(100)])?,
            _ => return None,
        })
    }

    fn by_schema(&mut self, op: &str, schema: &Schema) -> Option<Value> {
        Some(match schema {
            Schema::Integer { min, max } => {
                let low = min.unwrap_or(0);
                let high = max.unwrap_or(low + 4).min(low + 1_000);
                let span = usize::try_from(high - low + 1).unwrap_or(1);
                json!(low + i64::try_from(self.random.below(span)).unwrap_or(0))
            }
            Schema::Number => json!(self.random.below(4)),
            Schema::Boolean => self.random.chance(55).into(),
            Schema::Text => self.word(&["x", "", "text"]),
            Schema::Word(words) => self.one(words)?,
            Schema::Object(properties) => self.object(op, properties)?,
            Schema::List(of) => {
                (0..=self.random.below(2)).filter_map(|_| self.by_schema(op, of)).collect()
            }
            Schema::Choice(choices) => {
                let at = self.random.below(choices.len());
                self.by_schema(op, choices.get(at)?)?
            }
            Schema::Any => json!({ "any": 1 }),
        })
    }

    fn object(&mut self, op: &str, properties: &[Member]) -> Option<Value> {
        let chosen = self.choose(op, properties);
        let mut members = Map::new();
        for property in &chosen {
            if let Some(value) = self.value(op, property) {
                members.insert(property.name.clone(), value);
            } else if property.is_required {
                return None;
            }
        }
        self.relate(op, &mut members);
        Some(Value::Object(members))
    }

    fn choose(&mut self, op: &str, properties: &[Member]) -> Vec<Member> {
        let optional = properties.iter().filter(|property| !property.is_required).count();
        let usual = (150 / optional.max(1)).clamp(6, 50);
        let mut chosen: Vec<Member> = Vec::new();
        for property in properties {
            let odds = ODDS.iter().find(|(of, name, _)| *of == op && *name == property.name);
            let is_rare = RARE.contains(&property.name.as_str());
            let is_theme = property.name == self.theme.name;
            let odds = odds.map_or(if is_rare { 1 } else { usual }, |(_, _, odds)| *odds);
            let odds = if is_theme { 50 } else { odds };
            let is_apart = APART.iter().any(|(of, first, second)| {
                *of == op
                    && *second == property.name
                    && chosen.iter().any(|chosen| chosen.name == *first)
            }) || APART.iter().any(|(of, first, second)| {
                *of == op
                    && *first == property.name
                    && chosen.iter().any(|chosen| chosen.name == *second)
            });
            if property.is_required || self.random.chance(odds) && !is_apart {
                chosen.push(property.clone());
            }
        }
        if chosen.is_empty() && self.random.chance(85) {
            let usual: Vec<_> = properties
                .iter()
                .filter(|property| !RARE.contains(&property.name.as_str()))
                .cloned()
                .collect();
            chosen.extend(self.random.pick(&usual).cloned());
        }
        chosen
    }

    /// Makes what depends on the window fit the window: places in it, the opener, what is highlighted.
    fn relate(&mut self, op: &str, members: &mut Map<String, Value>) {
        let named = members.get("windowId").and_then(Value::as_str);
        let Some(window) = named
            .and_then(|name| self.sketch.window(name))
            .or_else(|| self.sketch.windows.first())
            .cloned()
        else {
            return;
        };
        if let Some(index) =
            members.get("index").filter(|_| named.is_some()).and_then(Value::as_i64)
            && index >= 0
        {
            members.insert(
                "index".into(),
                self.index(&Schema::Integer { min: Some(0), max: None }, Some(&window)),
            );
        }
        if op == "tabs.create" && members.contains_key("openerTabId") && self.random.chance(95) {
            let tabs: Vec<_> = window.tabs.iter().map(|tab| tab.name.clone()).collect();
            members.extend(self.one(&tabs).map(|tab| ("openerTabId".to_owned(), tab)));
        }
        if op == "tabs.highlight" {
            let places: Vec<_> = (0..window.tabs.len()).collect();
            let count = self.count(4);
            let places = self.random.sample(&places, count);
            members.insert(
                "tabs".into(),
                if let [place] = places.as_slice() { json!(place) } else { json!(places) },
            );
        }
    }

    fn one<T: Clone + Into<Value>>(&mut self, items: &[T]) -> Option<Value> {
        self.random.pick(items).cloned().map(Into::into)
    }

    /// One of several words.
    pub(super) fn word(&mut self, words: &[&str]) -> Value {
        self.random.pick(words).copied().unwrap_or_default().into()
    }

    /// A small number, more often one.
    fn count(&mut self, max: usize) -> usize {
        let counts: Vec<_> =
            (1..=max).map(|count| (count, if count < 3 { 2 } else { 1 })).collect();
        self.random.weighted(&counts).copied().unwrap_or(1)
    }

    /// Any tab.
    pub(super) fn tab(&mut self) -> Option<Value> {
        let tabs: Vec<_> = self.sketch.tabs().map(|tab| tab.name.clone()).collect();
        self.one(&tabs)
    }

    fn tabs(&mut self, op: &str) -> Option<Value> {
        let all: Vec<_> = self.sketch.tabs().map(|tab| tab.name.clone()).collect();
        let tabs = match op {
            "tabs.remove" => self.sketch.closable(),
            "tabs.ungroup" => {
                let grouped = self.sketch.tabs().filter(|tab| tab.group.is_some());
                Some(grouped.map(|tab| tab.name.clone()).collect::<Vec<_>>())
                    .filter(|tabs| !tabs.is_empty())
                    .unwrap_or(all)
            }
            "tabs.move" | "tabs.group" if self.random.chance(80) => {
                let window = self.random.pick(&self.sketch.windows)?;
                window.tabs.iter().map(|tab| tab.name.clone()).collect()
            }
            _ => all,
        };
        let count = if op == "tabs.remove" { 1 + self.random.below(2) } else { self.count(3) };
        let chosen = self.random.sample(&tabs, count);
        match chosen.as_slice() {
            [] => None,
            [one] if self.random.chance(60) => Some(one.clone().into()),
            _ => Some(chosen.into()),
        }
    }

    fn window(&mut self, op: &str) -> Option<Value> {
        if self.random.chance(4) {
            return Some((-2).into());
        }
        let windows: Vec<_> = match op {
            "windows.remove" => self.sketch.closable_windows(),
            op if op.starts_with("windows.")
                || op.ends_with(".query")
                || self.random.chance(15) =>
            {
                self.sketch.windows.iter().map(|window| window.name.clone()).collect()
            }
            _ => {
                let normal = self.sketch.windows.iter().filter(|window| window.is_normal);
                normal.map(|window| window.name.clone()).collect()
            }
        };
        self.one(&windows)
    }

    fn group(&mut self, schema: &Schema) -> Option<Value> {
        let groups = self.sketch.groups();
        let takes_none = matches!(schema, Schema::Integer { min: Some(-1), .. });
        if takes_none && (groups.is_empty() || self.random.chance(40)) {
            return Some((-1).into());
        }
        self.one(&groups)
    }

    fn index(&mut self, schema: &Schema, window: Option<&Window>) -> Value {
        let window = window.or_else(|| self.sketch.windows.first());
        let length = window.map_or(1, |window| window.tabs.len());
        if matches!(schema, Schema::Integer { min: Some(-1), .. }) && self.random.chance(25) {
            return (-1).into();
        }
        match self.random.below(10) {
            0 => 99.into(),
            1 => length.into(),
            _ => self.random.below(length + 1).into(),
        }
    }
}
