//! The licence and source check: `deny.toml` against what cargo resolves.
//!
//! `cargo deny check` reads the same file and does more (advisories need its database); this check needs no tool to be built first.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::run::workspace::{list, metadata, root, text};

/// Checks every package that any feature pulls in.
///
/// # Errors
/// Every package whose licence or source `deny.toml` does not allow, or that it bans, one a line.
pub(crate) fn check() -> Result<String> {
    let rules: toml::Table = std::fs::read_to_string(root().join("deny.toml"))
        .context("deny.toml is missing")?
        .parse()?;
    let strings = |table: &str, key: &str| -> BTreeSet<String> {
        let list =
            rules.get(table).and_then(|table| table.get(key)).and_then(toml::Value::as_array);
        list.into_iter().flatten().filter_map(name_of).collect()
    };
    let allowed = strings("licenses", "allow");
    let (sources, bans) = (strings("sources", "allow-registry"), strings("bans", "deny"));
    let metadata = metadata(&["--all-features"])?;
    let packages = list(&metadata, "packages");
    let mut breaches = Vec::new();
    for package in packages {
        breaches.extend(breach(package, &allowed, &sources, &bans));
    }
    if breaches.is_empty() {
        return Ok(format!("{} packages have an allowed licence and source", packages.len()));
    }
    bail!("{} packages are not allowed by deny.toml:\n  {}", breaches.len(), breaches.join("\n  "))
}

/// An entry of a list: plain text, or a table with `name` or `crate`.
fn name_of(value: &toml::Value) -> Option<String> {
    let named = value.get("name").or_else(|| value.get("crate"));
    named.unwrap_or(value).as_str().map(str::to_owned)
}

fn breach(
    package: &Value,
    allowed: &BTreeSet<String>,
    sources: &BTreeSet<String>,
    bans: &BTreeSet<String>,
) -> Option<String> {
    let name = text(package, "name");
    if bans.contains(name) {
        return Some(format!("{name} is banned"));
    }
    // A package without a source is a member of this workspace.
    if let Some(source) = package.get("source").and_then(Value::as_str)
        && !sources.iter().any(|allowed| source == format!("registry+{allowed}"))
    {
        return Some(format!("{name} comes from {source}"));
    }
    let licence = package.get("license").and_then(Value::as_str).unwrap_or("no licence");
    (!is_allowed(licence, allowed)).then(|| format!("{name}: {licence}"))
}

/// Tells whether an SPDX expression can be met by allowed licences alone.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    // The old form "MIT/Apache-2.0" means OR.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<_> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any_of(&mut rest, allowed) && rest.is_empty()
}

fn any_of(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut met = all_of(words, allowed);
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        met |= all_of(words, allowed);
    }
    met
}

fn all_of(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut met = licence(words, allowed);
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        met &= licence(words, allowed);
    }
    met
}

fn licence(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let met = any_of(words, allowed);
            let [")", rest @ ..] = *words else {
                return false;
            };
            *words = rest;
            met
        }
        [name, "WITH", exception, rest @ ..] => {
            *words = rest;
            allowed.contains(&format!("{name} WITH {exception}"))
        }
        [name, rest @ ..] => {
            *words = rest;
            allowed.contains(*name)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn an_expression_is_met_by_allowed_licences_alone() {
        let allowed = set(&["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"]);
        for (expression, met) in [
            ("MIT", true),
            ("MIT/Apache-2.0", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("MIT AND GPL-3.0", false),
            ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
            ("Apache-2.0 WITH LLVM-exception OR GPL-2.0", true),
            ("GPL-2.0 WITH Classpath-exception-2.0", false),
            ("(MIT", false),
            ("no licence", false),
            ("", false),
        ] {
            assert_eq!(is_allowed(expression, &allowed), met, "{expression}");
        }
    }

    #[test]
    fn a_package_from_elsewhere_is_found() {
        let package = serde_json::json!({ "name": "thing", "license": "MIT", "source": "git+https://example.com/thing" });
        let found =
            breach(&package, &set(&["MIT"]), &set(&["https://example.com/index"]), &set(&[]));
        assert_eq!(found.unwrap(), "thing comes from git+https://example.com/thing");
    }

    #[test]
    fn this_repository_keeps_its_licences() {
        check().unwrap();
    }
}
