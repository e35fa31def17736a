//! The rules that keep services apart and domains pure, checked on what cargo resolves and on the source itself.

use std::path::Path;

use anyhow::{Result, bail};

use crate::run::service::SERVICES;
use crate::run::workspace::{cargo, files, list, metadata, output, root, text};

/// Crates that only the shell may use.
const SHELL_CRATES: [&str; 7] =
    ["tokio", "hyper", "hyper-util", "sled", "clap", "tracing-subscriber", "tower"];

/// What a domain module never says: runtimes, sockets, engines, files, the environment, clocks, randomness, the terminal.
const BANNED: [&str; 20] = [
    "tokio::",
    "hyper::",
    "hyper_util::",
    "sled::",
    "clap::",
    "std::fs",
    "std::env",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "std::process",
    "SystemTime::now",
    "Instant::now",
    "Timestamp::now",
    "Zoned::now",
    "getrandom::",
    "SystemIds",
    "SystemClock",
    "println!",
    "eprintln!",
];

/// Where the core defines what is banned elsewhere: the places that hold the world's clock, randomness and disk.
const CORE_SHELL: [&str; 6] = ["host/", "kv/sled", "blobs/directory", "time.rs", "id.rs", "disk"];

/// Runs all three checks and says what was looked at.
///
/// # Errors
/// Every breach found, one a line.
pub(crate) fn check() -> Result<String> {
    let mut breaches = sideways(&metadata(&["--no-deps"])?);
    for package in packages() {
        let tree = output(&mut cargo(&[
            "tree",
            "--locked",
            "-p",
            package,
            "--no-default-features",
            "-e",
            "normal",
            "--prefix",
            "none",
        ]))?;
        breaches.extend(shell_crates(package, &tree));
    }
    let mut scanned = 0;
    for package in packages() {
        let source = root().join(source_of(package));
        for path in files(&source, ".rs")? {
            let name = path.strip_prefix(&source)?.to_string_lossy().into_owned();
            if is_shell(package, &name) {
                continue;
            }
            scanned += 1;
            let source = std::fs::read_to_string(&path)?;
            breaches.extend(banned(path.strip_prefix(root()).unwrap_or(&path), &source));
        }
    }
    if breaches.is_empty() {
        return Ok(format!(
            "pure: {} packages stand alone, {scanned} domain files scanned",
            packages().count()
        ));
    }
    bail!("{} breaches of purity:\n  {}", breaches.len(), breaches.join("\n  "))
}

fn packages() -> impl Iterator<Item = &'static str> {
    SERVICES.iter().map(|service| service.name).chain(["triptych-core"])
}

fn source_of(package: &str) -> String {
    let folder = if package == "triptych-core" { "core" } else { package };
    format!("crates/{folder}/src")
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

/// Whether a file, named from its crate's `src`, belongs to the shell.
fn is_shell(package: &str, name: &str) -> bool {
    let name = name.replace('\\', "/");
    if package == "triptych-core" {
        return CORE_SHELL.iter().any(|start| name.starts_with(start));
    }
    // `testing.rs` starts the server for other crates' tests; it is compiled with the server alone.
    matches!(name.as_str(), "http.rs" | "main.rs" | "testing.rs")
        || name.starts_with("http/")
        || name.starts_with("main/")
}

/// Banned words in a file, outside comments and outside its tests.
fn banned(path: &Path, text: &str) -> Vec<String> {
    let domain = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text);
    let mut breaches = Vec::new();
    for (number, line) in (1..).zip(domain.lines()) {
        let code = line.split("//").next().unwrap_or(line);
        for word in BANNED.iter().filter(|word| says(code, word)) {
            breaches.push(format!("{}:{number} says {word}", path.display()));
        }
    }
    breaches
}

/// Whether `code` has `word` as a path of its own: neither `my_tokio::` nor `self::tokio::` is `tokio::`.
fn says(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code.get(..at).and_then(|head| head.chars().next_back());
        let after = code.get(at + word.len()..).and_then(|rest| rest.chars().next());
        let joins = |edge: Option<char>| edge.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let is_crate = word.ends_with("::");
        let within_path = is_crate && before == Some(':');
        let ends_open = is_crate || word.ends_with('!');
        !joins(before) && !within_path && (ends_open || !joins(after))
    })
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

    #[test]
    fn a_banned_word_in_a_domain_file_is_found_with_its_line() {
        let text = "use std::fs::File;\n// std::env in a comment\nlet now = std::time::Instant::now();\nlet my_tokio::x;\nuse self::sled::Sled;\n\
                    \n#[cfg(test)]\nmod tests { use std::env; }\n";
        assert_eq!(
            banned(Path::new("a.rs"), text),
            ["a.rs:1 says std::fs", "a.rs:3 says Instant::now"]
        );
    }

    #[test]
    fn the_shell_is_http_and_main_and_the_cores_own_edges() {
        for (package, name, shell) in [
            ("object-put", "main.rs", true),
            ("object-put", "http/reply.rs", true),
            ("object-put", "head.rs", false),
            ("object-put", "host/x.rs", false),
            ("triptych-core", "host/accept.rs", true),
            ("triptych-core", "kv/sled.rs", true),
            ("triptych-core", "kv/tx.rs", false),
        ] {
            assert_eq!(is_shell(package, name), shell, "{package} {name}");
        }
    }

    #[test]
    fn this_repository_is_pure() {
        check().unwrap();
    }
}
