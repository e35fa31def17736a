//! The features that steps build with: those of every member of the workspace. Those of engines on other machines bring crates of their
//! own, which one step alone compiles.

use anyhow::{Result, bail};
use serde_json::Value;

use crate::run::workspace::{list, metadata, text};

/// The features that are an engine on another machine, in whichever member.
const REMOTE_ENGINES: [&str; 3] = ["etcd", "object-store", "postgres"];

/// The one of them that `cargo xtask scale` alone builds: it brings gRPC, which the tests that run each time have no time for.
const SOAKED: &str = "etcd";

/// Every feature that needs no other machine, as `--features` takes them; of one package, or of all.
///
/// # Errors
/// If cargo fails.
pub(crate) fn local(package: Option<&str>) -> Result<String> {
    Ok(chosen(&members()?, package, |feature| !REMOTE_ENGINES.contains(&feature)))
}

/// Every feature of the workspace that the tests build, as `--features` takes them.
///
/// # Errors
/// If cargo fails.
pub(crate) fn with_engines() -> Result<String> {
    Ok(chosen(&members()?, None, |feature| feature != SOAKED))
}

/// Every feature of the workspace, as `--features` takes them.
///
/// # Errors
/// If cargo fails.
pub(crate) fn all() -> Result<String> {
    Ok(chosen(&members()?, None, |_| true))
}

/// The names of the test programs that an engine on another machine is needed for, but for the one that is built by itself.
///
/// # Errors
/// If cargo fails, or there is none.
pub(crate) fn engine_tests() -> Result<Vec<String>> {
    let mut found = tests_of_engines(&members()?);
    // Of programs of one name, in several members, the name stands for all.
    found.sort();
    found.dedup();
    if found.is_empty() {
        bail!("no test program requires one of the features {}", REMOTE_ENGINES.join(", "));
    }
    Ok(found)
}

fn members() -> Result<Value> {
    metadata(&["--no-deps"])
}

fn chosen(members: &Value, package: Option<&str>, wanted: impl Fn(&str) -> bool) -> String {
    let mut found = Vec::new();
    for member in list(members, "packages") {
        let name = text(member, "name");
        let declared = member.get("features").and_then(Value::as_object);
        let features = declared.into_iter().flat_map(|features| features.keys());
        if package.is_none_or(|package| package == name) {
            found.extend(
                features
                    .filter(|feature| wanted(feature))
                    .map(|feature| format!("{name}/{feature}")),
            );
        }
    }
    found.join(",")
}

fn tests_of_engines(members: &Value) -> Vec<String> {
    let targets = list(members, "packages").iter().flat_map(|member| list(member, "targets"));
    let needs_engine = |target: &&Value| {
        let required = list(target, "required-features").iter().filter_map(Value::as_str);
        let mut engines = required.filter(|feature| REMOTE_ENGINES.contains(feature)).peekable();
        engines.peek().is_some() && engines.all(|feature| feature != SOAKED)
    };
    let is_test =
        |target: &&Value| list(target, "kind").iter().any(|kind| kind.as_str() == Some("test"));
    let found = targets.filter(is_test).filter(needs_engine);
    found.map(|target| text(target, "name").to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members() -> Value {
        serde_json::json!({ "packages": [
            { "name": "core", "features": { "etcd": [], "postgres": [], "sled": [] }, "targets": [
                { "name": "core", "kind": ["lib"] },
                { "name": "wire", "kind": ["test"], "required-features": ["postgres", "sled"] },
                { "name": "soaked", "kind": ["test"], "required-features": ["sled", "etcd"] },
                { "name": "disk", "kind": ["test"], "required-features": ["sled"] },
                { "name": "shown", "kind": ["example"], "required-features": ["postgres"] },
            ]},
            { "name": "shop", "features": { "default": ["server"], "object-store": [], "server": [] } },
        ]})
    }

    #[test]
    fn engines_on_other_machines_are_built_only_where_they_are_asked_for() {
        let local =
            |package| chosen(&members(), package, |feature| !REMOTE_ENGINES.contains(&feature));
        assert_eq!(local(None), "core/sled,shop/default,shop/server");
        assert_eq!(local(Some("core")), "core/sled");
        let tested = chosen(&members(), None, |feature| feature != SOAKED);
        assert_eq!(tested, "core/postgres,core/sled,shop/default,shop/object-store,shop/server");
    }

    #[test]
    fn the_tests_of_an_engine_are_those_that_require_its_feature() {
        assert_eq!(tests_of_engines(&members()), ["wire"]);
    }
}
