//! Names in place of what differs from run to run: ids, times, sizes and pictures.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Ids that scenarios use for what does not exist.
pub(super) const NOWHERE: i64 = 2_000_000_001;

/// Smaller numbers are counts and places, not ids.
const ID_MIN: i64 = 1_000;
/// Numbers of fewer digits within texts are not ids.
const DIGITS_MIN: usize = 6;
/// Shorter pictures are written out.
const PICTURE_MIN: usize = 400;

/// The names of the ids of one run: those that steps saved, else numbered by first appearance.
#[derive(Debug)]
pub(super) struct Symbols {
    names: BTreeMap<i64, String>,
    counts: BTreeMap<char, usize>,
    extension: String,
}

impl Symbols {
    /// No names yet, but for the extension's.
    pub(super) fn new(extension: String) -> Self {
        Self { names: BTreeMap::new(), counts: BTreeMap::new(), extension }
    }

    /// Names an id, unless it has a name.
    pub(super) fn bind(&mut self, name: &str, value: &Value) {
        if let Some(id) = value.as_i64() {
            self.names.entry(id).or_insert_with(|| name.to_owned());
        }
    }

    fn see(&mut self, kind: char, value: &Value) {
        let is_new = |id: &i64| {
            *id > ID_MIN && ![NOWHERE, NOWHERE + 1].contains(id) && !self.names.contains_key(id)
        };
        if let Some(id) = value.as_i64().filter(is_new) {
            let count = self.counts.entry(kind).or_default();
            *count += 1;
            self.names.insert(id, format!("{kind}x{count}"));
        }
    }

    /// Names the ids of a result.
    pub(super) fn see_result(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.see_result(item)),
            Value::Object(members) => self.see_members(members),
            _ => {}
        }
    }

    fn see_members(&mut self, members: &Map<String, Value>) {
        let has = |name: &str| members.contains_key(name);
        let kind = match () {
            () if has("windowId") && has("index") => Some('T'),
            () if has("focused") => Some('W'),
            () if has("collapsed") => Some('G'),
            () => None,
        };
        if let (Some(kind), Some(id)) = (kind, members.get("id")) {
            self.see(kind, id);
        }
        for (name, value) in members {
            let small = name.to_lowercase();
            match value {
                _ if small.ends_with("windowid") => self.see('W', value),
                _ if name == "groupId" => self.see('G', value),
                _ if small.ends_with("tabid") => self.see('T', value),
                Value::Array(ids) if name == "tabIds" => {
                    ids.iter().for_each(|id| self.see('T', id))
                }
                _ => self.see_result(value),
            }
        }
    }

    /// Names the ids of an event.
    pub(super) fn see_event(&mut self, name: &str, args: &Value) {
        let kind = match name.split('.').next() {
            Some("tabs") => 'T',
            Some("windows") => 'W',
            _ => 'G',
        };
        let ids = if name == "tabs.onReplaced" { 2 } else { 1 };
        for id in args.as_array().into_iter().flatten().take(ids) {
            self.see(kind, id);
        }
        self.see_result(args);
    }

    /// A value with names in it.
    pub(super) fn named(&self, value: &Value) -> Value {
        self.named_member(value, "", None)
    }

    fn named_member(&self, value: &Value, key: &str, parent: Option<&Map<String, Value>>) -> Value {
        match value {
            Value::String(text) if key == "documentId" && is_document(text) => "$DOC".into(),
            Value::String(text) => self.named_text(text).into(),
            Value::Number(_) => self.named_number(value, key, parent),
            Value::Array(items) => {
                items.iter().map(|item| self.named_member(item, key, None)).collect()
            }
            Value::Object(members) => {
                // A tab without an icon has an empty one at times.
                let is_shown = |key: &str, value: &Value| {
                    key != "favIconUrl" || value != "" || !members.contains_key("windowId")
                };
                let shown = members.iter().filter(|(key, value)| is_shown(key, value));
                let named = shown.map(|(key, value)| {
                    (key.clone(), self.named_member(value, key, Some(members)))
                });
                Value::Object(named.collect())
            }
            Value::Null | Value::Bool(_) => value.clone(),
        }
    }

    fn named_number(&self, value: &Value, key: &str, parent: Option<&Map<String, Value>>) -> Value {
        let is_placed = parent.is_some_and(|parent| {
            parent.contains_key("windowId") || parent.contains_key("focused")
        });
        match key {
            "lastAccessed" | "lastModified" => "$TIME".into(),
            "width" | "height" | "left" | "top" if is_placed => "$PX".into(),
            _ => match value.as_i64().and_then(|id| self.names.get(&id)) {
                Some(name) => format!("${name}").into(),
                None => rounded(value),
            },
        }
    }

    fn named_text(&self, text: &str) -> String {
        let starts = ["data:image/jpeg;base64,", "data:image/png;base64,"];
        if let Some(start) = starts.iter().find(|start| text.starts_with(**start))
            && text.len() > PICTURE_MIN
        {
            return format!("{start}$BYTES");
        }
        let text = match self.extension.as_str() {
            "" => text.to_owned(),
            extension => text.replace(extension, "$EXTID"),
        };
        let (mut named, mut digits) = (String::new(), String::new());
        for character in text.chars().map(Some).chain([None]) {
            if let Some(digit) = character.filter(char::is_ascii_digit) {
                digits.push(digit);
                continue;
            }
            let id = digits.parse().ok().filter(|_| digits.len() >= DIGITS_MIN);
            match id.and_then(|id: i64| self.names.get(&id)) {
                Some(name) => named.extend(["$", name]),
                None => named.push_str(&digits),
            }
            digits.clear();
            named.extend(character);
        }
        named
    }
}

/// True for the name of a document, which is another one in each run.
fn is_document(text: &str) -> bool {
    text.len() == 32 && text.chars().all(|digit| matches!(digit, '0'..='9' | 'A'..='F'))
}

/// A number to six places; a whole one without a point.
fn rounded(value: &Value) -> Value {
    let Some(number) = value.as_f64().filter(|_| value.is_f64()) else {
        return value.clone();
    };
    let number = (number * 1e6).round() / 1e6;
    let whole = format!("{number}").parse::<i64>();
    whole.map_or_else(|_| json!(number), Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_named_by_first_appearance_and_everything_that_varies_is_covered() {
        let mut symbols = Symbols::new("abcdef".into());
        symbols.bind("T1", &json!(100_001));
        let tab = json!({ "id": 100_002, "index": 0, "windowId": 100_003, "openerTabId": 100_001,
            "width": 800, "lastAccessed": 1.5, "url": "chrome-extension://abcdef/100002", "favIconUrl": "" });
        symbols.see_event("tabs.onCreated", &json!([tab]));
        assert_eq!(
            symbols.named(&tab),
            json!({ "id": "$Tx1", "index": 0, "windowId": "$Wx1", "openerTabId": "$T1", "width": "$PX",
                "lastAccessed": "$TIME", "url": "chrome-extension://$EXTID/$Tx1" })
        );
        let frame = json!({ "documentId": "8397D76C2CF4039C7E98E41204377008", "frameId": 0 });
        assert_eq!(symbols.named(&frame), json!({ "documentId": "$DOC", "frameId": 0 }));
        assert_eq!(
            symbols.named(&json!([1.0, 1.100_000_000_1, NOWHERE])),
            json!([1, 1.1, NOWHERE])
        );
    }
}
