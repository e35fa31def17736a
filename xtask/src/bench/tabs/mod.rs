//! The tabs engine on one core, then the same over sockets: calls, queries, memory, profiles, and listeners.

mod wire;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};
use tabs_api::browser::{Answer, Browser, Compat};
use tabs_api::engine::fixtures::Pages;
use tabs_api::engine::simulated::SimEngine;
use tabs_api::extension::manifest::Manifest;
use tabs_api::extension::permission::Extension;
use tabs_api::js_value::JsValue;
use tabs_api::operation::{Caller, Command, Context as From, Style};
use tabs_api::session::Session;
use triptych_core::time::Timestamp;

use super::report::Row;

/// The time that each rate is measured.
const SPAN: Duration = Duration::from_secs(2);
const EXTENSION: &str = "abcdefghijklmnopabcdefghijklmnop";
const CALLS_MIN: f64 = 1_000_000.0;
const QUERIES_MIN: f64 = 500.0;
const TAB_BYTES_MAX: f64 = 2_048.0;
const PROFILES_MIN: f64 = 1_000.0;

/// Engine commands on 100 tabs, queries over 10,000, memory of a tab, then what goes over sockets.
///
/// # Errors
/// If a call is refused, or a socket fails.
pub(crate) fn measure() -> Result<Vec<Row>> {
    // First: what a world of before has freed would be taken again, and not be seen.
    let memory = memory()?;
    let mut rows = commands()?;
    rows.extend(queries()?);
    rows.push(memory);
    rows.push(profiles()?);
    rows.extend(wire::measure()?);
    Ok(rows)
}

/// A browser and who calls it.
struct World {
    session: Session,
    caller: Caller,
    now: Timestamp,
}

impl World {
    /// A browser with this many tabs whose pages have arrived.
    fn of(tabs: usize) -> Result<Self> {
        let now = Timestamp::from_seconds(1_000_000);
        let mut browser = Browser::with_blank_window(now, Compat::Browser);
        let manifest = Manifest { permissions: vec!["tabs".into()], ..Manifest::default() };
        browser.install(Extension::new(EXTENSION.into(), &manifest, false));
        let mut world = Self {
            session: Session::new(browser, Box::new(SimEngine::new(Pages::default()))),
            caller: Caller { extension: EXTENSION.into(), context: From::Worker },
            now,
        };
        for number in 1..tabs {
            let url = format!("https://host{}.test/page/{number}", number % 100);
            let create = json!([{ "url": url, "active": false }]);
            world.apply(&read("tabs.create", &create)?)?;
            world.now = world.now.plus(Duration::from_secs(1));
            world.session.advance(world.now);
            world.drain();
        }
        Ok(world)
    }

    fn apply(&mut self, command: &Command) -> Result<Answer> {
        let answer = self.session.apply(self.now, &self.caller, command)?;
        self.drain();
        Ok(answer)
    }

    fn drain(&mut self) {
        while self.session.poll().is_some() {}
        self.session.change(self.now, |browser| {
            // What a profile without a store does: nothing of it is wanted.
            drop(browser.take_changes());
        });
    }

    fn ids(&mut self) -> Result<Vec<i64>> {
        match self.apply(&read("tabs.query", &json!([{}]))?)? {
            Answer::Tabs(tabs) => Ok(tabs.iter().map(|tab| tab.id).collect()),
            other => Err(anyhow!("a query gives tabs, and not {other:?}")),
        }
    }
}

fn read(name: &str, arguments: &Value) -> Result<Command> {
    let given: Vec<JsValue> = serde_json::from_value(arguments.clone())?;
    Ok(Command::read(name, &given, Style::Promise)?)
}

/// Repeats something for a while; how often a second it was done.
fn rate(mut act: impl FnMut(usize) -> Result<()>) -> Result<f64> {
    let (begun, mut count) = (Instant::now(), 0);
    while begun.elapsed() < SPAN {
        // The clock is asked seldom, so that it is not what is measured.
        for _ in 0..100 {
            act(count)?;
            count += 1;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate has no 53 bits")]
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    Ok(rate)
}

fn row(
    what: &str,
    value: f64,
    unit: &'static str,
    limit: (&str, f64),
    expected: Option<f64>,
) -> Row {
    Row { what: what.to_owned(), value, unit, limit: Some((limit.0.to_owned(), limit.1)), expected }
}

/// Calls of one thread on 100 tabs.
fn commands() -> Result<Vec<Row>> {
    let mut world = World::of(100)?;
    let ids = world.ids()?;
    let each = |name: &str, change: &Value| -> Result<Vec<Command>> {
        let arguments = ids.iter().map(|id| match change {
            Value::Null => json!([id]),
            change => json!([id, change]),
        });
        arguments.map(|arguments| read(name, &arguments)).collect()
    };
    let gets = each("tabs.get", &Value::Null)?;
    // Every one of them changes something, and is told.
    let mut updates = each("tabs.update", &json!({ "autoDiscardable": false }))?;
    updates.extend(each("tabs.update", &json!({ "autoDiscardable": true }))?);
    let limit = ("a million", CALLS_MIN);
    let mut rows = Vec::new();
    for (what, commands) in
        [("tabs.get, 100 tabs", &gets), ("tabs.update with its event, 100 tabs", &updates)]
    {
        let calls = rate(|turn| {
            let command = commands.get(turn % commands.len()).context("a command")?;
            world.session.apply(world.now, &world.caller, command).map(drop)?;
            while world.session.poll().is_some() {}
            Ok(())
        })?;
        rows.push(row(what, calls, "calls/s", limit, Some(1.0)));
    }
    rows.push(from_text(&mut world, &ids, limit)?);
    Ok(rows)
}

/// The whole way of a call but the socket: its text is read and checked, and its answer written.
fn from_text(world: &mut World, ids: &[i64], limit: (&str, f64)) -> Result<Row> {
    let texts: Vec<_> = ids.iter().map(|id| format!("[{id}]")).collect();
    let mut bytes = Vec::new();
    let calls = rate(|turn| {
        let text = texts.get(turn % texts.len()).context("a call")?;
        let given: Vec<JsValue> = serde_json::from_str(text)?;
        let command = Command::read("tabs.get", &given, Style::Promise)?;
        let answer = world.session.apply(world.now, &world.caller, &command)?;
        bytes.clear();
        serde_json::to_writer(&mut bytes, &answer)?;
        ensure!(bytes.len() > 200, "a tab is longer");
        Ok(())
    })?;
    let what = "tabs.get from JSON to JSON, 100 tabs";
    Ok(row(what, calls, "calls/s", limit, None))
}

/// Queries over 10,000 tabs.
fn queries() -> Result<Vec<Row>> {
    let mut world = World::of(10_000)?;
    let mut rows = Vec::new();
    for (what, info, count) in [
        ("all", json!({}), 10_000),
        ("one host", json!({ "url": "https://host7.test/*" }), 10_000 / 100),
        ("active", json!({ "active": true }), 1),
    ] {
        let command = read("tabs.query", &json!([info]))?;
        let begun = Instant::now();
        let mut turns = 0_u32;
        while begun.elapsed() < SPAN {
            match world.session.apply(world.now, &world.caller, &command)? {
                Answer::Tabs(tabs) if tabs.len() == count => turns += 1,
                other => return Err(anyhow!("{what}: {other:?}")),
            }
        }
        let queries = f64::from(turns) / begun.elapsed().as_secs_f64();
        let what = format!("tabs.query over 10,000 tabs: {what}");
        let limit = ("one in 2 ms", QUERIES_MIN);
        rows.push(row(&what, queries, "queries/s", limit, Some(1.0)));
    }
    Ok(rows)
}

/// The memory of this process that 20,000 tabs with a page and a history take.
fn memory() -> Result<Row> {
    let before = resident_bytes()?;
    let tabs = 20_000;
    let world = World::of(tabs)?;
    let taken = resident_bytes()? - before;
    drop(world);
    #[expect(clippy::cast_precision_loss, reason = "it is 20,000")]
    let each = taken / tabs as f64;
    // As a share of a bound, so that more is better as in every other row.
    Ok(row(
        "tabs in a MiB",
        1_048_576.0 / each,
        "tabs",
        ("at 2 KiB each", 1_048_576.0 / TAB_BYTES_MAX),
        Some(1.0),
    ))
}

fn resident_bytes() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .context("the process has memory")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kib * 1_024.0)
}

/// Profiles of a blank window, made one after the other.
fn profiles() -> Result<Row> {
    let seed = tabs_api::seed::Seed::default();
    let made = rate(|_| {
        seed.session(Timestamp::from_seconds(1), Compat::Spec)?;
        Ok(())
    })?;
    let limit = ("one a millisecond", PROFILES_MIN);
    Ok(row("browsers made", made, "browsers/s", limit, Some(1.0)))
}
