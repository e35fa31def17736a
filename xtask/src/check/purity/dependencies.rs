//! Packages that stand alone, and domains without the crates of the shell, as cargo resolves them.

use anyhow::Result;

use crate::run::service::SERVICES;
use crate::run::workspace::{cargo, list, metadata, output, text};

/// Crates that only the shell may use.
const SHELL_CRATES: [&str; 7] =
    ["tokio", "hyper", "hyper-util", "sled", "clap", "tracing-subscriber", "tower"];

/// Every dependency that should not be, one a line.
///
/// # Errors
/// If cargo fails.
pub(super) fn breaches() -> Result<Vec<String>> {
    let mut found = sideways(&metadata(&["--no-deps"])?);
    for package in packages() {
        let mut tree = cargo(&["tree", "--locked", "--no-default-features", "-e", "normal"]);
        let tree = output(tree.args(["--prefix", "none", "-p", package]))?;
        found.extend(shell_crates(package, &tree));
    }
    Ok(found)
}

/// The packages that stand alone.
pub(super) fn packages() -> impl Iterator<Item = &'static str> {
    SERVICES.iter().map(|service| service.name).chain(["triptych-core"])
}

/// Services that depend on another service, in any kind of dependency.
fn sideways(metadata: &serde_json::Value) -> Vec<String> {
    let is_service = |name: &str| SERVICES.iter().any(|service| service.name == name);
    let mut breaches = Vec::new();
    for package in list(metadata, "packages") {
        let name = text(package, "name");
        let stands_alone = is_service(name) || name == "triptych-core";
        for other in list(package, "dependencies").iter().map(|found| text(found, "name")) {
            if stands_alone && is_service(other) && name != other {
                breaches.push(format!("{name} depends on {other}"));
            }
        }
    }
    breaches
}

/// Crates of the shell in the tree of a domain.
fn shell_crates(package: &str, tree: &str) -> Vec<String> {
    let mut found: Vec<_> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| SHELL_CRATES.contains(name))
        .map(|name| format!("{package} --no-default-features pulls in {name}"))
        .collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_that_depends_on_another_is_found() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "video-api", "dependencies": [{ "name": "triptych-core" }, { "name": "object-put" }] },
            { "name": "xtask", "dependencies": [{ "name": "object-put" }] },
        ]});
        assert_eq!(sideways(&metadata), ["video-api depends on object-put"]);
    }

    #[test]
    fn a_runtime_in_the_tree_of_a_domain_is_found_once() {
        let tree = "tabs-api v0.1.0\nbytes v1.0.0\ntokio v1.54.1\ntokio v1.54.1 (*)\ntokio-macros v2.0.0\n";
        assert_eq!(
            shell_crates("tabs-api", tree),
            ["tabs-api --no-default-features pulls in tokio"]
        );
    }
}
