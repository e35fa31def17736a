//! The recorded scenarios of a real browser, replayed against the engine: results, error texts, events with payload and order, and the final state.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test reports by panicking")]

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tabs_api::engine::fixtures::Pages;
use tabs_api::js_value::JsValue;
use tabs_api::replay::{Replay, ReplayCall};
use triptych_core::time::Timestamp;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/tabs")
}

/// Symbols for ids, in the order in which the recorder gave them.
struct Symbols {
    names: BTreeMap<i64, String>,
    counts: BTreeMap<char, u32>,
    extension: String,
}

impl Symbols {
    fn bind(&mut self, name: &str, value: &Value) {
        if let Some(id) = value.as_i64() {
            self.names.entry(id).or_insert_with(|| name.to_owned());
        }
    }

    fn see(&mut self, kind: char, value: &Value) {
        let id =
            value.as_i64().filter(|id| *id > 1_000 && ![2_000_000_001, 2_000_000_002].contains(id));
        if let Some(id) = id.filter(|id| !self.names.contains_key(id)) {
            let count = self.counts.entry(kind).or_default();
            *count += 1;
            self.names.insert(id, format!("{kind}x{count}"));
        }
    }

    fn scan(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.scan(item)),
            Value::Object(members) => self.scan_object(members),
            _ => {}
        }
    }

    fn scan_object(&mut self, members: &Map<String, Value>) {
        let has = |name: &str| members.contains_key(name);
        let kind = match () {
            () if has("windowId") && has("index") => Some('T'),
            () if has("focused") => Some('W'),
            () => has("collapsed").then_some('G'),
        };
        if let (Some(kind), Some(id)) = (kind, members.get("id")) {
            self.see(kind, id);
        }
        for (key, member) in members {
            let lower = key.to_lowercase();
            match member {
                _ if lower.ends_with("windowid") => self.see('W', member),
                _ if key == "groupId" => self.see('G', member),
                _ if lower.ends_with("tabid") => self.see('T', member),
                Value::Array(ids) if key == "tabIds" => ids.iter().for_each(|id| self.see('T', id)),
                _ => self.scan(member),
            }
        }
    }

    fn scan_event(&mut self, event: &Value) {
        let (name, args) = (event["name"].as_str().unwrap_or(""), &event["args"]);
        let kind = match name {
            name if name.starts_with("tabs.") => 'T',
            name if name.starts_with("windows.") => 'W',
            _ => 'G',
        };
        self.see(kind, &args[0]);
        if name == "tabs.onReplaced" {
            self.see('T', &args[1]);
        }
        self.scan(args);
    }

    fn norm(&self, value: &Value, key: &str, parent: Option<&Map<String, Value>>) -> Value {
        match value {
            Value::String(text) if key == "documentId" && is_document(text) => "$DOC".into(),
            Value::String(text) => self.norm_text(text).into(),
            Value::Number(number) => {
                let is_placed = parent.is_some_and(|parent| {
                    parent.contains_key("windowId") || parent.contains_key("focused")
                });
                match key {
                    "lastAccessed" | "lastModified" => "$TIME".into(),
                    "width" | "height" | "left" | "top" if is_placed => "$PX".into(),
                    key if key.to_lowercase().ends_with("zoomfactor") => rounded(value),
                    _ => {
                        let name = number.as_i64().and_then(|id| self.names.get(&id));
                        name.map_or_else(|| value.clone(), |name| format!("${name}").into())
                    }
                }
            }
            Value::Array(items) => items.iter().map(|item| self.norm(item, key, None)).collect(),
            Value::Object(members) => {
                let is_empty_icon = |key: &str, value: &Value| {
                    key == "favIconUrl" && value == "" && members.contains_key("windowId")
                };
                let kept = members.iter().filter(|(key, value)| !is_empty_icon(key, value));
                Value::Object(
                    kept.map(|(key, member)| (key.clone(), self.norm(member, key, Some(members))))
                        .collect(),
                )
            }
            other => other.clone(),
        }
    }

    fn norm_text(&self, text: &str) -> String {
        let text = text.replace(&self.extension, "$EXTID");
        let starts = ["data:image/jpeg;base64,", "data:image/png;base64,"];
        if let Some(start) =
            starts.iter().find(|start| text.starts_with(**start)).filter(|_| text.len() > 400)
        {
            return format!("{start}$BYTES");
        }
        let (mut out, mut digits) = (String::new(), String::new());
        for character in text.chars().map(Some).chain(std::iter::once(None)) {
            if let Some(digit) = character.filter(char::is_ascii_digit) {
                digits.push(digit);
                continue;
            }
            let name = digits
                .parse()
                .ok()
                .and_then(|id: i64| self.names.get(&id))
                .filter(|_| digits.len() >= 6);
            out.push_str(&name.map_or_else(|| digits.clone(), |name| format!("${name}")));
            digits.clear();
            out.extend(character);
        }
        out
    }
}

fn is_document(text: &str) -> bool {
    text.len() == 32 && text.chars().all(|digit| matches!(digit, '0'..='9' | 'A'..='F'))
}

fn rounded(value: &Value) -> Value {
    let number = (value.as_f64().unwrap_or(0.0) * 1e6).round() / 1e6;
    if number.fract() == 0.0 { json!(number as i64) } else { json!(number) }
}

/// Ids of earlier steps in place of their names.
fn resolve(value: JsValue, bound: &BTreeMap<String, Value>) -> JsValue {
    match value {
        JsValue::String(text) => match text.strip_prefix('$').and_then(|name| bound.get(name)) {
            Some(id) => serde_json::from_value(id.clone()).unwrap(),
            None => JsValue::String(text),
        },
        JsValue::Array(items) => {
            JsValue::Array(items.into_iter().map(|item| resolve(item, bound)).collect())
        }
        JsValue::Object(members) => JsValue::Object(
            members.into_iter().map(|(key, member)| (key, resolve(member, bound))).collect(),
        ),
        other => other,
    }
}

/// The calls of a scenario, read apart from it so that the keys of their arguments keep their order.
#[derive(serde::Deserialize)]
struct Calls {
    steps: Vec<ReplayCall>,
}

fn outcome(step: &Value) -> Value {
    if let Some(error) = step.get("error") {
        let is_pending = error["kind"] == "pending";
        return json!([
            "error",
            error["kind"],
            if is_pending { Value::from("") } else { error["message"].clone() }
        ]);
    }
    if step["result_undefined"] == true || step["undef"] == true {
        return json!(["undefined"]);
    }
    json!(["result", step["result"]])
}

fn is_compared(event: &Value) -> bool {
    event["name"] != "windows.onFocusChanged"
}

fn comparable(name: &Value, args: &Value) -> Value {
    let mut args = args.clone();
    if name == "tabs.onHighlighted"
        && let Some(ids) = args.pointer_mut("/0/tabIds").and_then(Value::as_array_mut)
    {
        ids.sort_by_key(Value::to_string);
    }
    plain(&json!([name, args]))
}

/// The whole numbers of a recording that were written with a point.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => rounded(value),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(members) => Value::Object(
            members.iter().map(|(key, member)| (key.clone(), plain(member))).collect(),
        ),
        other => other.clone(),
    }
}

enum Verdict {
    Pass,
    Fail(Vec<String>),
    Skip(String),
}

type Steps = Vec<(Value, Vec<Value>)>;

fn replay(scenario: &Value, calls: &[ReplayCall], pages: &Pages) -> Verdict {
    let mut now = Timestamp::from_seconds(1_790_000_000);
    let mut lab = Replay::new(pages.clone(), now);
    let start = lab.reset(now, scenario["manifest_variant"].as_str().unwrap_or("full"));
    let mut heard = BTreeMap::new();
    for listener in scenario["listeners"].as_array().into_iter().flatten() {
        let variant = listener.as_str().unwrap();
        lab.listen(now, variant);
        heard.insert(variant, Vec::new());
    }
    let extension = start["extension_id"].as_str().unwrap_or("").to_owned();
    let mut symbols = Symbols { names: BTreeMap::new(), counts: BTreeMap::new(), extension };
    let mut bound = BTreeMap::new();
    for name in ["W1", "T1"] {
        bound.insert(name.to_owned(), start[name].clone());
        symbols.bind(name, &start[name]);
    }
    let (mut seen, mut raw) = (0, Vec::new());
    for (number, step) in scenario["steps"].as_array().unwrap().iter().enumerate() {
        let reply = if step["op"] == "harness.sleep" {
            now = now.plus(Duration::from_millis(step["args"][0].as_u64().unwrap_or(0)));
            json!({ "result": null })
        } else {
            let mut call = calls[number].clone();
            call.args = call.args.into_iter().map(|arg| resolve(arg, &bound)).collect();
            lab.call(now, call)
        };
        if reply["unsupported"] == true {
            return Verdict::Skip(format!("step {number} {}", step["op"]));
        }
        for (name, path) in step.get("save").and_then(Value::as_object).into_iter().flatten() {
            let parts = path.as_str().unwrap().split('.').filter(|part| !part.is_empty());
            let pointer: String = parts.map(|part| format!("/{part}")).collect();
            if let Some(value) = reply["result"].pointer(&pointer).filter(|value| !value.is_null())
            {
                bound.insert(name.clone(), value.clone());
                symbols.bind(name, value);
            }
        }
        let events = lab.events(now, seen, step["settle"].as_str().unwrap_or("full"));
        let events = events["events"].as_array().unwrap().clone();
        seen += events.len();
        raw.push((reply, events));
        for (variant, log) in &mut heard {
            let events = lab.heard(now, variant, log.len());
            let events = events["events"].as_array().unwrap().iter();
            log.extend(events.map(|event| (number, event.clone())));
        }
    }
    let last = raw.len().saturating_sub(1);
    // The recorder waits for all pages in the end, however short the last step waits.
    if scenario["steps"][last]["settle"].as_str().is_some_and(|settle| settle != "full") {
        let late = lab.events(now, seen, "full");
        raw[last].1.extend(late["events"].as_array().unwrap().iter().cloned());
        for (variant, log) in &mut heard {
            let late = lab.heard(now, variant, log.len());
            log.extend(late["events"].as_array().unwrap().iter().map(|late| (last, late.clone())));
        }
    }
    let all = json!({ "op": "windows.getAll", "args": [{ "populate": true }] });
    let last = lab.call(now, serde_json::from_value(all).unwrap());
    for (reply, events) in &raw {
        events.iter().for_each(|event| symbols.scan_event(event));
        symbols.scan(&reply["result"]);
    }
    symbols.scan(&last["result"]);
    let mut faults = judge(scenario, &raw, &symbols);
    faults.extend(
        heard.iter().filter_map(|(variant, log)| judge_listener(scenario, variant, log, &symbols)),
    );
    let wanted = plain(&scenario["final_windows"]);
    let got = plain(&symbols.norm(&last["result"], "", None));
    if wanted != got {
        faults.push(format!("in the end: want {wanted} got {got}"));
    }
    if faults.is_empty() { Verdict::Pass } else { Verdict::Fail(faults) }
}

/// True if there are runs of the browser that differ in nothing but the order in which several tabs loaded at once.
fn varies_among_tabs(scenario: &Value) -> bool {
    scenario["varies_among_tabs"] == true
}

/// Puts what loads of several tabs told at the same time into the order of the tabs: the browser itself loads them in any.
fn order_loads_by_tab(events: &mut [Value]) {
    let tab = |event: &Value| {
        let args = &event[1];
        let of_load = ["status", "title", "favIconUrl"].iter().any(|key| args[1][key].is_string());
        match event[0].as_str() {
            Some("tabs.onUpdated") if of_load => args[0].as_str().map(str::to_owned),
            Some("tabs.onZoomChange") => args[0]["tabId"].as_str().map(str::to_owned),
            _ => None,
        }
    };
    for loads in events.chunk_by_mut(|one, next| tab(one).is_some() && tab(next).is_some()) {
        loads.sort_by_key(tab);
    }
}

fn judge(scenario: &Value, raw: &Steps, symbols: &Symbols) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, (step, (reply, events))) in
        scenario["steps"].as_array().unwrap().iter().zip(raw).enumerate()
    {
        let mut got = reply.clone();
        got["result"] = symbols.norm(&reply["result"], "", None);
        if step["op"] == "tabs.getZoom" && got["result"].is_number() {
            got["result"] = rounded(&got["result"]);
        }
        if reply.get("error").is_some() {
            got["error"] = symbols.norm(&reply["error"], "", None);
        }
        let (wanted, got) = (plain(&outcome(step)), plain(&outcome(&got)));
        if wanted != got {
            faults.push(format!("step {number} {}: want {wanted} got {got}", step["op"]));
        }
        let recorded =
            scenario["events"].as_array().unwrap().iter().filter(|event| event["step"] == number);
        let mut wanted: Vec<_> = recorded
            .filter(|event| is_compared(event))
            .map(|event| comparable(&event["name"], &event["args"]))
            .collect();
        let got = events.iter().filter(|event| is_compared(event));
        let mut got: Vec<_> = got
            .map(|event| comparable(&event["name"], &symbols.norm(&event["args"], "", None)))
            .collect();
        if varies_among_tabs(scenario) {
            order_loads_by_tab(&mut wanted);
            order_loads_by_tab(&mut got);
        }
        if wanted != got {
            let at = (0..wanted.len().max(got.len()))
                .find(|at| wanted.get(*at) != got.get(*at))
                .unwrap();
            let show =
                |events: &[Value]| events.get(at).map_or("none".to_owned(), Value::to_string);
            faults.push(format!(
                "step {number} {} event {at}: want {} got {}",
                step["op"],
                show(&wanted),
                show(&got)
            ));
        }
    }
    faults
}

/// The first event that a listener should have heard otherwise.
fn judge_listener(
    scenario: &Value,
    variant: &str,
    log: &[(usize, Value)],
    symbols: &Symbols,
) -> Option<String> {
    let recorded = scenario["heard"][variant].as_array().into_iter().flatten();
    let recorded = recorded.filter(|event| is_compared(event));
    let wanted: Vec<_> = recorded
        .map(|event| json!([event["step"], comparable(&event["name"], &event["args"])]))
        .collect();
    let got = log.iter().filter(|(_, event)| is_compared(event));
    let got: Vec<_> = got
        .map(|(step, event)| {
            json!([step, comparable(&event["name"], &symbols.norm(&event["args"], "", None))])
        })
        .collect();
    let at = (0..wanted.len().max(got.len())).find(|at| wanted.get(*at) != got.get(*at))?;
    let show = |events: &[Value]| events.get(at).map_or("none".to_owned(), Value::to_string);
    Some(format!("{variant} heard {}, not {}", show(&got), show(&wanted)))
}

/// Judges by the recording, or, where runs of the browser differed, by any of them.
fn judge_any(scenario: &Value, calls: &[ReplayCall], pages: &Pages) -> Verdict {
    let first = replay(scenario, calls, pages);
    if matches!(first, Verdict::Pass) {
        return first;
    }
    let others = scenario["events_alternatives"].as_array();
    let passes = others.into_iter().flatten().any(|events| {
        let mut other = scenario.clone();
        other["events"] = events.clone();
        matches!(replay(&other, calls, pages), Verdict::Pass)
    });
    if passes { Verdict::Pass } else { first }
}

/// The verdict on a file; none if others were asked for.
fn verdict(file: &Path, pages: &Pages) -> Option<(String, Verdict)> {
    let text = std::fs::read_to_string(file).unwrap();
    let scenario: Value = serde_json::from_str(&text).unwrap();
    let calls: Calls = serde_json::from_str(&text).unwrap();
    let name = scenario["name"].as_str().unwrap();
    let is_asked_for = option_env!("CORPUS_ONLY").is_none_or(|only| name.contains(only));
    is_asked_for.then(|| (name.to_owned(), judge_any(&scenario, &calls.steps, pages)))
}

/// The verdicts on all files, each judged by whichever thread comes to it first.
fn verdicts(files: &[PathBuf], pages: &Pages) -> BTreeMap<String, Verdict> {
    let next = AtomicUsize::new(0);
    let judge = || {
        let files = std::iter::from_fn(|| files.get(next.fetch_add(1, Ordering::Relaxed)));
        files.filter_map(|file| verdict(file, pages)).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(judge)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn the_engine_does_what_the_recorded_browser_did() {
    let pages =
        Pages::read(&std::fs::read_to_string(folder().join("fixtures.json")).unwrap()).unwrap();
    let corpus = option_env!("CORPUS").map_or_else(|| folder().join("corpus"), PathBuf::from);
    let files: Vec<_> =
        std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    let (mut passed, mut failed) = (0, Vec::new());
    for (name, verdict) in verdicts(&files, &pages) {
        match verdict {
            Verdict::Pass => passed += 1,
            Verdict::Skip(why) => failed.push(format!("{name}: not supported: {why}")),
            Verdict::Fail(faults) => failed.push(format!("{name}\n    {}", faults.join("\n    "))),
        }
    }
    println!("{passed} passed, {} failed", failed.len());
    for line in &failed {
        println!("{line}");
    }
    assert!(failed.is_empty(), "{} scenarios differ", failed.len());
}
