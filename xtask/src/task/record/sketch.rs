//! A rough picture of the browser while a scenario is generated: enough that most calls make sense. What a call really does is for the browser to say.

use serde_json::Value;

use super::scenario::Step;

/// A tab, by the name of its id.
#[derive(Debug, Clone)]
pub(super) struct Tab {
    /// `$T2`.
    pub name: String,
    /// The address that it shows.
    pub url: String,
    /// The group that it is in.
    pub group: Option<String>,
    /// True if it was discarded.
    pub is_discarded: bool,
    is_pinned: bool,
}

/// A window, by the name of its id.
#[derive(Debug, Clone)]
pub(super) struct Window {
    /// `$W1`.
    pub name: String,
    /// True if it has a strip that tabs can be moved to.
    pub is_normal: bool,
    /// Its tabs, in order.
    pub tabs: Vec<Tab>,
}

/// The picture.
#[derive(Debug, Clone)]
pub(super) struct Sketch {
    /// All windows.
    pub windows: Vec<Window>,
    /// The ports that were opened.
    pub ports: Vec<String>,
    /// Windows that were closed, and tabs, each in a window of its own as far as this knows; the last one at the end.
    closed: Vec<Closed>,
    counts: [usize; 4],
}

/// A tab or a window that `sessions.restore` brings back.
#[derive(Debug, Clone)]
enum Closed {
    /// A tab, with the name of the window that it was in.
    Tab(Tab, String),
    Window(Window),
}

/// The tab that is never closed, so that a window stays open and with it the browser.
const FIRST: &str = "$T1";

impl Sketch {
    /// The start state: one window with one blank tab.
    pub(super) fn new() -> Self {
        let tab = Tab::new(FIRST.to_owned(), "about:blank");
        let window = Window { name: "$W1".to_owned(), is_normal: true, tabs: vec![tab] };
        let (ports, closed) = (Vec::new(), Vec::new());
        Self { windows: vec![window], ports, closed, counts: [1, 1, 0, 0] }
    }

    /// All tabs.
    pub(super) fn tabs(&self) -> impl Iterator<Item = &Tab> {
        self.windows.iter().flat_map(|window| &window.tabs)
    }

    /// The groups that have tabs.
    pub(super) fn groups(&self) -> Vec<String> {
        let mut groups: Vec<_> = self.tabs().filter_map(|tab| tab.group.clone()).collect();
        groups.sort();
        groups.dedup();
        groups
    }

    /// The window of this name.
    pub(super) fn window(&self, name: &str) -> Option<&Window> {
        self.windows.iter().find(|window| window.name == name)
    }

    /// Tabs that may be closed.
    pub(super) fn closable(&self) -> Vec<String> {
        let tabs = self.tabs().filter(|tab| !tab.is_first());
        tabs.map(|tab| tab.name.clone()).collect()
    }

    /// Windows that may be closed.
    pub(super) fn closable_windows(&self) -> Vec<String> {
        let windows = self.windows.iter().filter(|window| !window.tabs.iter().any(Tab::is_first));
        windows.map(|window| window.name.clone()).collect()
    }

    /// Tabs that may leave their window.
    pub(super) fn movable(&self) -> Vec<String> {
        let normal = self.windows.iter().filter(|window| window.is_normal).count();
        let is_left = |window: &&Window| window.tabs.len() > 1 || !window.is_normal || normal > 1;
        let windows = self.windows.iter().filter(is_left);
        windows.flat_map(|window| &window.tabs).map(|tab| tab.name.clone()).collect()
    }

    /// A new name: of a tab, a window, a group or a port.
    pub(super) fn name(&mut self, kind: char) -> String {
        let at = ['T', 'W', 'G', 'P'].iter().position(|known| *known == kind).unwrap_or(0);
        let Some(count) = self.counts.get_mut(at) else { return kind.to_string() };
        *count += 1;
        format!("{kind}{count}")
    }

    /// Adds to a step the names of what it makes, and takes over what it is likely to change.
    pub(super) fn follow(&mut self, step: &mut Step) {
        let first = step.args.first().cloned().unwrap_or_default();
        let second = step.args.get(1).cloned().unwrap_or_default();
        match step.op.as_str() {
            "tabs.create" => self.create(step, &first),
            "tabs.duplicate" => self.duplicate(step, &first),
            "tabs.discard" => self.discard(step, &first),
            "tabs.remove" => names(&first).iter().for_each(|tab| self.close(tab)),
            "tabs.move" => self.place(&names(&first), &second),
            "tabs.group" => self.group(step, &first),
            "tabs.ungroup" => {
                let tabs = names(&first);
                self.each(&tabs, |tab| tab.group = None);
            }
            "tabs.update" => self.update(&first, &second),
            "windows.create" => self.open(step, &first),
            "windows.remove" => {
                let is_it = |window: &mut Window| Some(window.name.as_str()) == first.as_str();
                self.closed.extend(self.windows.extract_if(.., is_it).map(Closed::Window));
            }
            "sessions.restore" if step.args.is_empty() => self.restore(step),
            "tabGroups.move" => {
                let group = first.as_str().map(str::to_owned);
                let tabs: Vec<_> = self
                    .tabs()
                    .filter(|tab| tab.group == group)
                    .map(|tab| tab.name.clone())
                    .collect();
                self.place(&tabs, &second);
                self.each(&tabs, |tab| tab.group.clone_from(&group));
            }
            _ => {}
        }
        self.windows.retain(|window| !window.tabs.is_empty());
    }

    fn each(&mut self, names: &[String], mut change: impl FnMut(&mut Tab)) {
        let tabs = self.windows.iter_mut().flat_map(|window| &mut window.tabs);
        tabs.filter(|tab| names.contains(&tab.name)).for_each(&mut change);
    }

    fn take(&mut self, name: &str) -> Option<Tab> {
        self.windows.iter_mut().find_map(|window| {
            let at = window.tabs.iter().position(|tab| tab.name == name)?;
            Some(window.tabs.remove(at))
        })
    }

    fn close(&mut self, name: &str) {
        let home = |window: &&Window| window.tabs.iter().any(|tab| tab.name == name);
        let home = self.windows.iter().find(home).map(|window| window.name.clone());
        let tab = self.take(name);
        self.closed.extend(tab.zip(home).map(|(tab, home)| Closed::Tab(tab, home)));
    }

    /// Brings back what was closed last, under new names.
    fn restore(&mut self, step: &mut Step) {
        match self.closed.pop() {
            Some(Closed::Tab(mut tab, home)) => {
                let name = self.name('T');
                step.save.push((name.clone(), "tab.id".to_owned()));
                tab.name = format!("${name}");
                self.put(tab, &serde_json::json!({ "windowId": home }));
            }
            Some(Closed::Window(mut window)) => {
                let name = self.name('W');
                step.save.push((name.clone(), "window.id".to_owned()));
                window.name = format!("${name}");
                for (at, tab) in window.tabs.iter_mut().enumerate() {
                    let name = self.name('T');
                    step.save.push((name.clone(), format!("window.tabs.{at}.id")));
                    tab.name = format!("${name}");
                }
                self.windows.push(window);
            }
            None => {}
        }
    }

    /// The window that a call names, else the first normal one.
    fn target(&mut self, properties: &Value) -> Option<&mut Window> {
        let named = properties.get("windowId").and_then(Value::as_str);
        let is_meant = |window: &Window| named.map_or(window.is_normal, |name| window.name == name);
        let at = self.windows.iter().position(is_meant).unwrap_or(0);
        self.windows.get_mut(at)
    }

    fn put(&mut self, mut tab: Tab, properties: &Value) {
        let index = properties
            .get("index")
            .and_then(Value::as_i64)
            .and_then(|index| usize::try_from(index).ok());
        if let Some(window) = self.target(properties) {
            let pinned = window.tabs.iter().filter(|tab| tab.is_pinned).count();
            let end = window.tabs.len();
            let index = index.unwrap_or(end);
            tab.is_pinned &= window.is_normal;
            let (low, high) = if tab.is_pinned { (0, pinned) } else { (pinned, end) };
            window.tabs.insert(index.clamp(low, high.max(low)).min(end), tab);
        }
    }

    fn create(&mut self, step: &mut Step, properties: &Value) {
        let name = self.name('T');
        step.save.push((name.clone(), "id".to_owned()));
        let url = properties.get("url").and_then(Value::as_str).unwrap_or("chrome://newtab/");
        let mut tab = Tab::new(format!("${name}"), url);
        tab.is_pinned = properties.get("pinned") == Some(&Value::Bool(true));
        self.put(tab, properties);
    }

    fn duplicate(&mut self, step: &mut Step, of: &Value) {
        let found = self.tabs().find(|tab| Some(tab.name.as_str()) == of.as_str()).cloned();
        let Some(mut tab) = found else { return };
        let name = self.name('T');
        step.save.push((name.clone(), "id".to_owned()));
        let home = self.windows.iter_mut().find_map(|window| {
            let at = window.tabs.iter().position(|other| other.name == tab.name)?;
            Some((window, at))
        });
        tab.name = format!("${name}");
        if let Some((window, at)) = home {
            window.tabs.insert(at + 1, tab);
        }
    }

    /// A discarded tab has a new id.
    fn discard(&mut self, step: &mut Step, tab: &Value) {
        let Some(old) = tab.as_str() else { return };
        let new = format!("{old}D");
        step.save.push((new.trim_start_matches('$').to_owned(), "id".to_owned()));
        self.each(&[old.to_owned()], |tab| {
            tab.name.clone_from(&new);
            tab.is_discarded = true;
        });
    }

    fn place(&mut self, tabs: &[String], properties: &Value) {
        let mut properties = properties.clone();
        for name in tabs {
            let home =
                self.windows.iter().find(|window| window.tabs.iter().any(|tab| tab.name == *name));
            let home = home.map(|window| window.name.clone());
            let is_named = properties.get("windowId").is_some_and(Value::is_string);
            let Some(mut tab) = self.take(name) else { continue };
            if is_named && properties.get("windowId").and_then(Value::as_str) != home.as_deref() {
                (tab.is_pinned, tab.group) = (false, None);
            }
            let mut place = properties.clone();
            if let (false, Some(members)) = (is_named, place.as_object_mut()) {
                members.insert("windowId".into(), home.into());
            }
            self.put(tab, &place);
            if let Some(index) = properties.get_mut("index") {
                *index =
                    index.as_i64().map(|index| if index < 0 { index } else { index + 1 }).into();
            }
        }
    }

    fn group(&mut self, step: &mut Step, options: &Value) {
        let tabs = options.get("tabIds").map(names).unwrap_or_default();
        let known = options.get("groupId").and_then(Value::as_str).map(str::to_owned);
        let group = known.unwrap_or_else(|| {
            let name = self.name('G');
            step.save.push((name.clone(), String::new()));
            format!("${name}")
        });
        let named = options.get("createProperties").and_then(|made| made.get("windowId")).cloned();
        let holder = self
            .windows
            .iter()
            .find(|window| window.tabs.iter().any(|tab| tab.group.as_ref() == Some(&group)));
        let window = named.or_else(|| holder.map(|window| window.name.clone().into()));
        let properties = serde_json::json!({ "windowId": window });
        for name in &tabs {
            if let Some(mut tab) = self.take(name) {
                (tab.is_pinned, tab.group) = (false, Some(group.clone()));
                self.put(tab, &properties);
            }
        }
    }

    fn update(&mut self, tab: &Value, properties: &Value) {
        let Some(name) = tab.as_str() else { return };
        let url = properties.get("url").and_then(Value::as_str);
        let pinned = properties.get("pinned").and_then(Value::as_bool);
        self.each(&[name.to_owned()], |tab| {
            tab.is_pinned = pinned.unwrap_or(tab.is_pinned);
            if let Some(url) = url {
                url.clone_into(&mut tab.url);
                tab.is_discarded = false;
            }
            if pinned == Some(true) {
                tab.group = None;
            }
        });
    }

    fn open(&mut self, step: &mut Step, data: &Value) {
        let name = self.name('W');
        step.save.push((name.clone(), "id".to_owned()));
        let is_normal = data.get("type").is_none_or(|kind| kind == "normal");
        let moved = data.get("tabId").and_then(Value::as_str).and_then(|tab| self.take(tab));
        let mut tabs: Vec<_> = moved.into_iter().collect();
        for tab in &mut tabs {
            (tab.is_pinned, tab.group) = (false, None);
        }
        let urls = match data.get("url") {
            Some(Value::Array(urls)) => urls.clone(),
            Some(url) => vec![url.clone()],
            None if tabs.is_empty() => vec!["chrome://newtab/".into()],
            None => Vec::new(),
        };
        // Of several pages a popup shows the first.
        let shown = if is_normal { urls.len() } else { urls.len().min(1) };
        for (at, url) in urls.iter().take(shown).enumerate() {
            let tab = self.name('T');
            step.save.push((tab.clone(), format!("tabs.{at}.id")));
            tabs.push(Tab::new(format!("${tab}"), url.as_str().unwrap_or_default()));
        }
        self.windows.push(Window { name: format!("${name}"), is_normal, tabs });
    }
}

impl Tab {
    fn new(name: String, url: &str) -> Self {
        Self { name, url: url.to_owned(), group: None, is_discarded: false, is_pinned: false }
    }

    /// True if it is the tab that is never closed, discarded or not.
    fn is_first(&self) -> bool {
        self.name.trim_end_matches('D') == FIRST
    }

    /// True if it shows a page that can run scripts.
    pub(super) fn is_page(&self) -> bool {
        self.url.starts_with("http") && !self.is_discarded
    }
}

/// One name, or a list of names.
fn names(value: &Value) -> Vec<String> {
    let items = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
    items.iter().filter_map(|item| Some(item.as_str()?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names_of(window: &Window) -> Vec<&str> {
        window.tabs.iter().map(|tab| tab.name.as_str()).collect()
    }

    fn shown(sketch: &Sketch) -> Vec<Vec<&str>> {
        sketch.windows.iter().map(names_of).collect()
    }

    fn follow(sketch: &mut Sketch, op: &str, args: Value) -> Vec<(String, String)> {
        let mut step = Step::new(op, args.as_array().cloned().unwrap());
        sketch.follow(&mut step);
        step.save
    }

    #[test]
    fn the_picture_follows_the_calls_and_names_what_they_make() {
        let mut sketch = Sketch::new();
        let saved =
            follow(&mut sketch, "tabs.create", json!([{ "url": "about:blank", "index": 0 }]));
        assert_eq!(saved, [("T2".to_owned(), "id".to_owned())]);
        follow(
            &mut sketch,
            "windows.create",
            json!([{ "url": ["about:blank", "http://a.test/"] }]),
        );
        assert_eq!(shown(&sketch), [vec!["$T2", "$T1"], vec!["$T3", "$T4"]]);
        follow(
            &mut sketch,
            "tabs.move",
            json!([["$T2", "$T3"], { "index": -1, "windowId": "$W2" }]),
        );
        assert_eq!(shown(&sketch), [vec!["$T1"], vec!["$T4", "$T2", "$T3"]]);
        let saved = follow(&mut sketch, "tabs.group", json!([{ "tabIds": ["$T4"] }]));
        assert_eq!(saved, [("G1".to_owned(), String::new())]);
        assert_eq!(sketch.groups(), ["$G1"]);
        follow(&mut sketch, "tabs.remove", json!(["$T3"]));
        let saved = follow(&mut sketch, "sessions.restore", json!([]));
        assert_eq!(saved, [("T5".to_owned(), "tab.id".to_owned())]);
        follow(&mut sketch, "tabs.discard", json!(["$T1"]));
        // A new group takes its tabs into the first window.
        assert_eq!(sketch.closable(), ["$T4", "$T2", "$T5"]);
    }
}
