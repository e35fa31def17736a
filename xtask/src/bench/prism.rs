//! Prism, a mock server that is made of an OpenAPI document: here of the one that follows from our operations.

use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use super::load::Connection;
use crate::run::workspace::target;

/// The release that is measured; npm keeps it under `target/`.
const PACKAGE: &str = "@stoplight/prism-cli@5.14.2";
/// The time that it may take to listen.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that ends with its owner.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a measurement against a mock of a discovery document.
///
/// # Errors
/// If npm or node is missing, the mock does not start, and those of the measurement.
pub(super) fn with<T>(
    discovery: &Value,
    measure: impl FnOnce(SocketAddr) -> Result<T>,
) -> Result<T> {
    let folder = target().join("prism");
    std::fs::create_dir_all(&folder)?;
    let program = folder.join("node_modules/.bin/prism");
    if !program.exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--prefix"]);
        let installed = npm.arg(&folder).arg(PACKAGE).status()?;
        ensure!(installed.success(), "{PACKAGE} cannot be installed");
    }
    let document = folder.join("openapi.json");
    std::fs::write(&document, openapi(discovery).to_string())?;
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let _running = Running(
        Command::new(program)
            .args(["mock", "--port", &address.port().to_string()])
            .args(["--host", "127.0.0.1", "--verboseLevel", "fatal"])
            .arg(&document)
            .stdout(Stdio::null())
            .spawn()
            .context("prism does not start: is node there?")?,
    );
    let begun = Instant::now();
    while Connection::to(address).is_err() {
        ensure!(begun.elapsed() < PATIENCE, "prism does not listen");
        std::thread::sleep(Duration::from_millis(100));
    }
    measure(address)
}

/// An OpenAPI document of the lists of a discovery document, with their schemas.
fn openapi(discovery: &Value) -> Value {
    let base = discovery["servicePath"].as_str().unwrap_or_default();
    // Empty where the paths are whole, as ours are.
    let base = format!("/{}", base.trim_matches('/'));
    let base = base.trim_end_matches('/');
    let mut paths = Map::new();
    let resources = discovery["resources"].as_object().into_iter().flatten();
    let methods = resources.flat_map(|(_, resource)| {
        let methods = resource["methods"].as_object().into_iter().flatten();
        methods.map(|(_, method)| method)
    });
    let lists =
        methods.filter(|method| method["httpMethod"] == "GET" && method.get("response").is_some());
    for method in lists {
        let path = method["path"].as_str().unwrap_or_default();
        let path = format!("{base}/{path}");
        let parameters: Vec<_> = method["parameters"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, parameter)| {
                let place = parameter["location"].as_str().unwrap_or("query");
                json!({"name": name, "in": place, "required": place == "path", "schema": {"type": "string"}})
            })
            .collect();
        let schema = refs(&method["response"]);
        let content = json!({"application/json": {"schema": schema}});
        let answer = json!({"description": "The answer.", "content": content});
        let operation = json!({"parameters": parameters, "responses": {"200": answer}});
        paths.insert(path, json!({"get": operation}));
    }
    json!({
        "openapi": "3.0.3",
        "info": {"title": discovery["title"], "version": "3"},
        "paths": paths,
        "components": {"schemas": refs(&discovery["schemas"])},
    })
}

/// The same schemas, with references as OpenAPI writes them, and without what discovery alone knows.
fn refs(schema: &Value) -> Value {
    match schema {
        Value::Array(list) => list.iter().map(refs).collect(),
        Value::Object(map) => {
            if let Some(Value::String(name)) = map.get("$ref") {
                return json!({"$ref": format!("#/components/schemas/{name}")});
            }
            let known = map.iter().filter(|(name, _)| {
                !["id", "annotations", "enumDescriptions"].contains(&name.as_str())
                    || map.get(*name).is_some_and(|value| value.get("type").is_some())
            });
            known.map(|(name, value)| (name.clone(), refs(value))).collect()
        }
        other => other.clone(),
    }
}
