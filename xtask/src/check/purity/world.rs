//! The places where the world may be touched, and the words that touch it.

use std::path::Path;

use anyhow::Result;

use crate::run::workspace::files;

/// The places of each crate that may touch the world: folders, and files by their whole name.
///
/// A service has one folder, its program, and the program's commands. The core has its engines on disk, its host, and one place
/// each for the world's clock, randomness, disk and threads, and for the ports and the programs of tests.
const IMPURE: [(&str, &[&str]); 4] = [
    (
        "core",
        &[
            "host/",
            "kv/etcd/",
            "kv/postgres/",
            "kv/shared/",
            "kv/sled/",
            "blobs/directory/",
            "blobs/remote/",
            "time.rs",
            "id.rs",
            "disk/",
            "free_ports.rs",
            "installed_clients.rs",
            "schedule/",
        ],
    ),
    ("object-put", &["server/", "main.rs", "commands/"]),
    ("video-api", &["http/", "main.rs", "commands/"]),
    ("tabs-api", &["http/", "main.rs", "commands/"]),
];

/// Words that a domain module never says: runtimes, sockets, engines, files, the environment, clocks, randomness, the terminal.
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

/// Every banned word in the domain files of a crate, and how many files those are.
///
/// # Errors
/// If a source cannot be read.
pub(super) fn breaches(name: &str, source: &Path) -> Result<(Vec<String>, usize)> {
    let (mut found, mut scanned) = (Vec::new(), 0);
    for path in files(source, ".rs")? {
        let within = path.strip_prefix(source)?;
        if is_impure(name, &within.to_string_lossy()) {
            continue;
        }
        scanned += 1;
        found.extend(banned(&Path::new(name).join(within), &std::fs::read_to_string(&path)?));
    }
    Ok((found, scanned))
}

/// Tells whether a file, named from its crate's `src/`, may touch the world.
fn is_impure(crate_name: &str, file: &str) -> bool {
    let file = file.replace('\\', "/");
    let is_within =
        |place: &&str| file == *place || (place.ends_with('/') && file.starts_with(place));
    let places = IMPURE.iter().filter(|(name, _)| *name == crate_name);
    places.flat_map(|(_, places)| *places).any(is_within)
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

/// Tells whether `code` has `word` as a path of its own: neither `my_tokio::` nor `self::tokio::` is `tokio::`.
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
    fn a_banned_word_in_a_domain_file_is_found_with_its_line() {
        let text = "use std::fs::File;\n// std::env in a comment\nlet now = std::time::Instant::now();\nlet my_tokio::x;\nuse self::sled::Sled;\n\
                    \n#[cfg(test)]\nmod tests { use std::env; }\n";
        assert_eq!(
            banned(Path::new("a.rs"), text),
            ["a.rs:1 says std::fs", "a.rs:3 says Instant::now"]
        );
    }

    #[test]
    fn each_crate_has_its_impure_places_and_no_other() {
        for (name, file, impure) in [
            ("object-put", "main.rs", true),
            ("object-put", "server/service.rs", true),
            ("object-put", "commands/check.rs", true),
            ("object-put", "store/key.rs", false),
            ("object-put", "store/server/key.rs", false),
            ("object-put", "host/x.rs", false),
            ("video-api", "http/router.rs", true),
            ("video-api", "server/router.rs", false),
            ("video-api", "http.rs", false),
            ("tabs-api", "testing.rs", false),
            ("core", "host/server/accept.rs", true),
            ("core", "kv/postgres/pool.rs", true),
            ("core", "kv/sled/mod.rs", true),
            ("core", "kv/tx.rs", false),
            ("core", "time.rs", true),
            ("core", "time_zone.rs", false),
        ] {
            assert_eq!(is_impure(name, file), impure, "{name} {file}");
        }
    }
}
