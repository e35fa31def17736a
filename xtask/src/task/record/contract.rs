//! The replay contract, as a client of it: a browser that is brought into the start state, called, and asked for its events.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

/// The longest time that an answer may take; a real browser that is started for it takes its time.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser behind the contract, real or not.
#[derive(Debug)]
pub(super) struct Contract {
    host: String,
}

/// The start of a scenario.
#[derive(Debug)]
pub(super) struct Start {
    /// The ids of `$W1` and `$T1`.
    pub ids: Vec<(String, Value)>,
    /// The id of the extension that makes the calls.
    pub extension: String,
}

impl Contract {
    /// The contract at an address such as `http://127.0.0.1:7803`.
    pub(super) fn at(url: &str) -> Self {
        Self { host: url.trim_start_matches("http://").trim_end_matches('/').to_owned() }
    }

    /// Brings the browser into the start state.
    ///
    /// # Errors
    /// If it does not answer.
    pub(super) fn reset(&self, variant: &str, listeners: &[String]) -> Result<Start> {
        let mut body = json!({ "manifest_variant": variant });
        if let Some(members) = body.as_object_mut().filter(|_| !listeners.is_empty()) {
            members.insert("listeners".into(), listeners.into());
        }
        let answer = self.ask("POST", "/oracle/reset", Some(&body))?;
        let id = |name: &str| {
            let id = answer.get(name).with_context(|| format!("the start state has no {name}"))?;
            Ok::<_, anyhow::Error>((name.to_owned(), id.clone()))
        };
        let extension = answer.get("extension_id").and_then(Value::as_str).unwrap_or_default();
        Ok(Start { ids: vec![id("W1")?, id("T1")?], extension: extension.to_owned() })
    }

    /// Makes a call, whose ids are resolved.
    ///
    /// # Errors
    /// If it does not answer.
    pub(super) fn call(&self, step: &Value) -> Result<Value> {
        self.ask("POST", "/oracle/call", Some(step))
    }

    /// The events after the first `after`, once settled: those of the extension that makes the calls.
    ///
    /// # Errors
    /// If it does not answer.
    pub(super) fn events(&self, after: usize, settle: &str) -> Result<Vec<Value>> {
        self.events_at(&format!("/oracle/events?after={after}&settle={settle}"))
    }

    /// The events after the first `after` that a listener has heard by now.
    ///
    /// # Errors
    /// If it does not answer.
    pub(super) fn heard(&self, listener: &str, after: usize) -> Result<Vec<Value>> {
        self.events_at(&format!("/oracle/events?after={after}&settle=none&listener={listener}"))
    }

    fn events_at(&self, path: &str) -> Result<Vec<Value>> {
        let mut answer = self.ask("GET", path, None)?;
        match answer.get_mut("events").map(Value::take) {
            Some(Value::Array(events)) => Ok(events),
            _ => bail!("the answer has no events"),
        }
    }

    /// The table of operations.
    ///
    /// # Errors
    /// If it does not answer.
    pub(super) fn schema(&self) -> Result<Value> {
        self.ask("GET", "/v1/schema", None)
    }

    /// One request on a connection of its own, which a server of HTTP/1.0 ends with its answer.
    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let exchange = || {
            let mut stream = TcpStream::connect(&self.host)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            let body = body.map(Value::to_string).unwrap_or_default();
            let head = format!(
                "{method} {path} HTTP/1.0\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                self.host,
                body.len()
            );
            stream.write_all((head + &body).as_bytes())?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
            let status = head.split(' ').nth(1).unwrap_or_default();
            if status != "200" {
                bail!("{status} {body}");
            }
            Ok(serde_json::from_str(body)?)
        };
        exchange().map_err(|error| anyhow!("{method} {path} at {}: {error}", self.host))
    }
}
