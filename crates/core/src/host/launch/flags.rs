//! The flags that every service has, each with an environment variable.

use std::net::IpAddr;
use std::path::PathBuf;

use bytes::Bytes;
use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::store_url::StoreUrl;
use crate::host::server::Limits;

/// The bounds of a file of the journal: shorter ones cost a sync for each few commits, longer ones are read at starts.
#[cfg(feature = "sled")]
const SEGMENT_BYTES_MIN: u64 = 4 * 1024;
#[cfg(feature = "sled")]
const SEGMENT_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// The names of a service, and its defaults.
#[derive(Debug, Clone, Copy)]
pub struct Product {
    /// The name of the binary, and of the service in logs and banners.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The start of its environment variables, without the underscore.
    pub prefix: &'static str,
    /// The default port.
    pub port: u16,
    /// Values longer than this many bytes are kept in packs beside the records; at 64 KiB there are none.
    pub record_bytes_max: u64,
    /// Tells whether a row is one that the service writes: by that a data directory of before it was marked is known.
    pub is_row: fn(&[u8], &Bytes) -> bool,
}

/// The common flags, as given.
#[derive(Debug, Clone)]
pub struct Flags {
    /// The service that they are given to.
    pub product: Product,
    /// The address to listen on; loopback unless told otherwise.
    pub listen: IpAddr,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// The data directory, or `None` for memory alone.
    pub data: Option<PathBuf>,
    /// The place of bodies: a directory, or the URL of an object store; below the data directory without it.
    pub blobs: Option<String>,
    /// The store of the records on another machine; without one they are in the data directory.
    pub store: Option<StoreUrl>,
    /// The schema of that store that holds this service's records.
    pub store_schema: String,
    /// Connections to that store.
    pub store_connections: usize,
    /// The seed file.
    pub seed: Option<PathBuf>,
    /// Written whole once ready.
    pub ready_file: Option<PathBuf>,
    /// Refuse what the real service ignores.
    pub strict: bool,
    /// Log lines as JSON.
    pub log_json: bool,
    /// The log file; standard error without one.
    pub log: Option<PathBuf>,
    /// The token for control paths from other machines.
    pub admin_token: Option<String>,
    /// Host names under which the service itself is reached.
    pub base_hosts: Vec<String>,
    /// The URL that clients see, where a proxy stands in front.
    pub external_url: Option<String>,
    /// The tree that records are read from.
    #[cfg(feature = "sled")]
    pub tree: crate::kv::TreeKind,
    /// Bytes of a file of the journal, and so of what a base is made for.
    #[cfg(feature = "sled")]
    pub segment_bytes: u64,
    /// Memory for the key-value store's cache, in bytes.
    pub cache_bytes: u64,
    /// Values longer than this many bytes are kept in packs beside the records.
    pub record_bytes_max: usize,
    /// Fill the index of the records anew from their log, whatever is known of it.
    pub rebuild_index: bool,
    /// The bounds of every connection.
    pub limits: Limits,
    /// Certificate chain and key in PEM files.
    #[cfg(feature = "tls")]
    pub tls_files: Option<(PathBuf, PathBuf)>,
    /// Set to make a certificate at each start.
    #[cfg(feature = "tls")]
    pub tls_self_signed: bool,
}

/// Adds the common flags to a service's command. Sub-commands of the service come beside them.
#[must_use]
pub fn augment(command: Command, product: &Product) -> Command {
    let name = product.name;
    let flag = |id: &'static str, help: &'static str| {
        let variable = format!("{}_{}", product.prefix, id.to_ascii_uppercase().replace('-', "_"));
        Arg::new(id).long(id).env(variable).help(help).global(true)
    };
    let value = |id, name: &'static str, help, parser: ValueParser| {
        flag(id, help).value_name(name).value_parser(parser)
    };
    let number = |id, help, default: u64| {
        value(id, "N", help, value_parser!(u64).into()).default_value(default.to_string())
    };
    let path = || value_parser!(PathBuf);
    let limits = Limits::default();
    let data = format!("./data/{name}");
    let command = command
        .arg(
            value("listen", "ADDRESS", "Address to listen on", value_parser!(IpAddr).into())
                .default_value("127.0.0.1"),
        )
        .arg(
            value(
                "port",
                "PORT",
                "Port to listen on; 0 takes a free one",
                value_parser!(u16).into(),
            )
            .default_value(product.port.to_string()),
        )
        .arg(value("data", "DIR", "Directory that keeps the data", path()).default_value(data))
        .arg(
            flag(
                "blobs",
                "Where bodies are kept, instead of below --data: a directory, or s3://BUCKET/PREFIX, gs://, az:// or file:// in a build with the feature object-store; credentials come from the environment",
            )
            .value_name("WHERE")
            .hide_env_values(true),
        )
        .arg(flag("memory", "Keep the data in memory alone").action(ArgAction::SetTrue))
        .arg(
            flag("store", "Store of the records that instances share: postgres://user@host/database, or etcd://host:port,host:port")
                .value_name("URL")
                .hide_env_values(true),
        )
        .arg(
            flag("store-schema", "Schema of --store that holds the records of this service")
                .value_name("NAME")
                .default_value(name.replace('-', "_")),
        )
        .arg(number("store-connections", "Connections to --store, half of them for reads", 16))
        .arg(value("seed", "FILE", "JSON file that fills an empty store before ready", path()))
        .arg(value(
            "ready-file",
            "FILE",
            "File that gets name, url, pid and data once ready",
            path(),
        ))
        .arg(
            flag("strict", "Refuse unknown parameters and headers that the real service ignores")
                .action(ArgAction::SetTrue),
        )
        .arg(
            value("log-format", "FORMAT", "Form of log lines", ["text", "json"].into())
                .default_value("text"),
        )
        .arg(value("log", "FILE", "File for the log; standard error without it", path()))
        .arg(
            flag("admin-token", "Token for control paths from other machines")
                .value_name("TOKEN")
                .hide_env_values(true),
        )
        .arg(
            flag("base-host", "Host name of this server; may be repeated")
                .value_name("HOST")
                .action(ArgAction::Append)
                .value_parser(host_name)
                .value_delimiter(','),
        )
        .arg(
            flag("external-url", "URL that clients see, where a proxy stands in front")
                .value_name("URL")
                .value_parser(external_url),
        )
        .arg(
            value(
                "cache",
                "N",
                "Cache of the key-value store, in MiB; 1 at the least",
                value_parser!(u64).range(1..).into(),
            )
            .default_value("1024"),
        )
        .arg(number(
            "record-bytes-max",
            "Longer values are kept in packs beside the records, which have to fit the cache",
            product.record_bytes_max,
        ))
        .arg(
            flag(
                "rebuild-index",
                "Fill the index of the records anew from their log, whatever is known of it",
            )
            .action(ArgAction::SetTrue),
        )
        .arg(number("connections-max", "Connections that are served at once; more are answered 503 with Retry-After", limits.connections_max as u64))
        .arg(number(
            "head-ms-max",
            "Longest time for a request head, and of an idle connection",
            limits.head_ms_max,
        ))
        .arg(number(
            "body-idle-ms-max",
            "Longest pause within a request body",
            limits.body_idle_ms_max,
        ))
        .arg(number(
            "body-rate-min",
            "Bytes a second that a request body must reach on average",
            limits.body_rate_min,
        ))
        .arg(number(
            "answer-idle-ms-max",
            "Longest time in which a client takes no byte of its answer",
            limits.answer_idle_ms_max,
        ))
        .arg(number(
            "answer-rate-min",
            "Bytes a second that a client must take of its answer on average while it is waited for",
            limits.answer_rate_min,
        ))
        .arg(number(
            "drain-ms-max",
            "How long running requests may go on after a stop",
            limits.drain_ms_max,
        ));
    #[cfg(feature = "sled")]
    let command = {
        let names = crate::kv::TreeKind::all().iter().map(|(name, _)| *name);
        command.arg(
            value(
                "tree",
                "TREE",
                "Tree that records are read from; a store of another one is filled anew",
                clap::builder::PossibleValuesParser::new(names).into(),
            )
            .default_value("sled"),
        )
        .arg(
            value(
                "segment-bytes",
                "N",
                "Bytes of a file of the journal; a base of all records is made for four of them at the least",
                value_parser!(u64).range(SEGMENT_BYTES_MIN..=SEGMENT_BYTES_MAX).into(),
            )
            .default_value(crate::kv::LOG_SEGMENT_BYTES.to_string()),
        )
    };
    #[cfg(feature = "tls")]
    let command = command
        .arg(
            value("tls-cert", "FILE", "PEM file with the certificate chain", path())
                .requires("tls-key"),
        )
        .arg(value("tls-key", "FILE", "PEM file with the private key", path()).requires("tls-cert"))
        .arg(
            flag("tls-self-signed", "Serve https with a certificate made at each start")
                .action(ArgAction::SetTrue),
        );
    command
        .subcommand(Command::new("serve").about("Serve (the default)"))
        .subcommand(
            Command::new("healthcheck")
                .about("Ask the running server whether it is ready; exit code 0 or 1"),
        )
        .subcommand(Command::new("completions").about("Print shell completions").arg(
            Arg::new("shell").required(true).value_parser(value_parser!(clap_complete::Shell)),
        ))
}

/// Reads the URL that clients see; an empty one is none, as with the other flags that a variable may clear.
///
/// # Errors
/// A sentence for what cannot stand before a path.
fn external_url(text: &str) -> Result<String, &'static str> {
    const FORM: &str = "it must be http:// or https://, a host, and a port and a path if there are such: https://videos.example.com/api";
    if text.is_empty() {
        return Ok(String::new());
    }
    let url: http::Uri = text.parse().map_err(|_| FORM)?;
    let authority = url.authority().ok_or(FORM)?;
    let behind_host = authority.as_str().strip_prefix(authority.host()).ok_or(FORM)?;
    let ported = behind_host.is_empty() || authority.port_u16().is_some();
    // A query or a fragment would come to stand before the path of a request.
    let only_a_base = !authority.host().is_empty() && !text.contains(['?', '#']);
    let spoken = matches!(url.scheme_str(), Some("http" | "https"));
    if spoken && ported && only_a_base { Ok(text.to_owned()) } else { Err(FORM) }
}

/// Reads the name of a host, and its port if there is one; an empty one is none, as above.
///
/// # Errors
/// A sentence for what no host is called.
pub fn host_name(text: &str) -> Result<String, &'static str> {
    const FORM: &str = "it must be the name of a host (letters, digits, '-', '_' and '.') or its address, and a port if there is one: store.example.com";
    let is_of_host = |sign: char| sign.is_ascii_alphanumeric() || "-_.:[]".contains(sign);
    if text.is_empty() {
        return Ok(String::new());
    }
    let authority: http::uri::Authority = Some(text)
        .filter(|text| text.chars().all(is_of_host))
        .ok_or(FORM)?
        .parse()
        .map_err(|_| FORM)?;
    let behind_host = text.strip_prefix(authority.host()).ok_or(FORM)?;
    let ported = behind_host.is_empty() || authority.port_u16().is_some();
    if ported && !authority.host().is_empty() { Ok(text.to_owned()) } else { Err(FORM) }
}

impl Flags {
    /// The common flags of a command that [`augment`] made for a service.
    #[must_use]
    pub fn from_matches(product: &Product, matches: &ArgMatches) -> Self {
        let path = |id| matches.get_one::<PathBuf>(id).cloned();
        let text = |id| matches.get_one::<String>(id).cloned();
        let number = |id| matches.get_one::<u64>(id).copied().unwrap_or_default();
        Self {
            product: *product,
            listen: matches
                .get_one("listen")
                .copied()
                .unwrap_or(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST)),
            port: matches.get_one("port").copied().unwrap_or_default(),
            data: path("data").filter(|_| !matches.get_flag("memory")),
            blobs: text("blobs").filter(|place| !place.is_empty()),
            store: text("store").filter(|url| !url.is_empty()).map(StoreUrl::new),
            store_schema: text("store-schema").unwrap_or_default(),
            store_connections: usize::try_from(number("store-connections")).unwrap_or(1),
            seed: path("seed"),
            ready_file: path("ready-file"),
            strict: matches.get_flag("strict"),
            log_json: text("log-format").as_deref() == Some("json"),
            log: path("log"),
            admin_token: text("admin-token").filter(|token| !token.is_empty()),
            base_hosts: matches
                .get_many::<String>("base-host")
                .into_iter()
                .flatten()
                .filter(|host| !host.is_empty())
                .cloned()
                .collect(),
            external_url: text("external-url").filter(|url| !url.is_empty()),
            #[cfg(feature = "sled")]
            tree: text("tree")
                .and_then(|name| crate::kv::TreeKind::named(&name))
                .unwrap_or_default(),
            #[cfg(feature = "sled")]
            segment_bytes: number("segment-bytes"),
            cache_bytes: number("cache").saturating_mul(1024 * 1024),
            record_bytes_max: usize::try_from(number("record-bytes-max")).unwrap_or(usize::MAX),
            rebuild_index: matches.get_flag("rebuild-index"),
            limits: Limits {
                connections_max: usize::try_from(number("connections-max"))
                    .unwrap_or(usize::MAX >> 4)
                    .clamp(1, usize::MAX >> 4),
                head_ms_max: number("head-ms-max"),
                body_idle_ms_max: number("body-idle-ms-max"),
                body_rate_min: number("body-rate-min"),
                answer_idle_ms_max: number("answer-idle-ms-max"),
                answer_rate_min: number("answer-rate-min"),
                drain_ms_max: number("drain-ms-max"),
                ..Limits::default()
            },
            #[cfg(feature = "tls")]
            tls_files: path("tls-cert").zip(path("tls-key")),
            #[cfg(feature = "tls")]
            tls_self_signed: matches.get_flag("tls-self-signed"),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The service that tests give flags to.
    pub(in crate::host::launch) const PRODUCT: Product = Product {
        name: "thing",
        version: "1",
        prefix: "THING",
        port: 7,
        record_bytes_max: 65_536,
        is_row: |_, _| true,
    };

    #[test]
    fn every_flag_has_an_environment_variable_and_a_help_line() {
        let command = augment(Command::new("thing"), &PRODUCT);
        command.clone().debug_assert();
        for flag in command
            .get_arguments()
            .filter(|flag| !matches!(flag.get_id().as_str(), "help" | "version"))
        {
            assert!(
                flag.get_env().is_some_and(|name| name.to_string_lossy().starts_with("THING_")),
                "{flag}"
            );
            assert!(flag.get_help().is_some(), "{flag}");
        }
    }

    #[test]
    fn an_external_url_is_one_that_a_path_can_follow_or_the_command_is_refused() {
        let given = |url: &str| {
            let line = ["thing", "--external-url", url];
            let matches = augment(Command::new("thing"), &PRODUCT).try_get_matches_from(line);
            matches.map(|matches| Flags::from_matches(&PRODUCT, &matches).external_url)
        };
        for url in [
            "https://videos.example.com",
            "http://localhost:80/",
            "http://[::1]:8080/api/v1/",
            "HTTPS://Example.com",
        ] {
            assert_eq!(given(url).unwrap().as_deref(), Some(url));
        }
        assert_eq!(given("").unwrap(), None);
        for url in [
            "foo",
            "foo.example",
            "localhost:8080",
            "/api",
            "//host",
            "ftp://host",
            "http://",
            "http://:80",
            "http://host:",
            "http://host:65536",
            "http://host/?a=b",
            "http://host/#a",
            "http://user@host",
            "http://ho st",
        ] {
            let refused = given(url).unwrap_err().to_string();
            assert!(refused.contains("https://"), "{url}: {refused}");
        }
    }

    #[test]
    fn a_base_host_is_called_as_a_host_is_or_the_command_is_refused() {
        let given = |host: &str| {
            let line = ["thing", "--base-host", host];
            let matches = augment(Command::new("thing"), &PRODUCT).try_get_matches_from(line);
            matches.map(|matches| Flags::from_matches(&PRODUCT, &matches).base_hosts)
        };
        for host in ["store.example.com", "my_store", "localhost:80", "[::1]:80", "10.0.0.1"] {
            assert_eq!(given(host).unwrap(), [host]);
        }
        assert_eq!(given("a.example,b.example").unwrap(), ["a.example", "b.example"]);
        assert!(given("").unwrap().is_empty());
        for host in ["http://a", "a/b", "a b", "*.a", "a@b", "a:", "a:b", ":80", "a?b", "\u{e4}"] {
            let refused = given(host).unwrap_err().to_string();
            assert!(refused.contains("the name of a host"), "{host}: {refused}");
        }
    }

    #[test]
    fn a_cache_of_nothing_is_refused_by_the_flag() {
        let given = |mebibytes: &str| {
            let line = ["thing", "--cache", mebibytes];
            let matches = augment(Command::new("thing"), &PRODUCT).try_get_matches_from(line);
            matches.map(|matches| Flags::from_matches(&PRODUCT, &matches).cache_bytes)
        };
        assert_eq!(given("1").unwrap(), 1024 * 1024);
        assert_eq!(given(&u64::MAX.to_string()).unwrap(), u64::MAX);
        let refused = given("0").unwrap_err();
        assert_eq!(refused.exit_code(), 2);
        assert!(refused.to_string().contains("1.."), "{refused}");
    }

    #[test]
    fn flags_mean_the_same_before_and_after_serve() {
        for line in [
            &["thing", "--port", "0", "--memory"][..],
            &["thing", "serve", "--port", "0", "--memory"],
        ] {
            let matches = augment(Command::new("thing"), &PRODUCT).get_matches_from(line);
            let matches = matches.subcommand().map_or(&matches, |(_, inner)| inner);
            let flags = Flags::from_matches(&PRODUCT, matches);
            assert_eq!((flags.port, flags.data), (0, None));
        }
    }
}
