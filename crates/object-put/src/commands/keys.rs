//! `object-put keys`: the embedded key service of a server that runs, told through its control path.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command};
use object_put::request::xml::Element;
use serde_json::{Map, Value, json};
use triptych_core::host::flags::Flags;
use triptych_core::host::launch::print;

/// The time that an answer may take.
const WAIT: Duration = Duration::from_secs(30);
/// The most bytes of an answer.
const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The sub-command and its own.
pub(super) fn command() -> Command {
    let key =
        || Arg::new("key").value_name("KEY").required(true).help("Id, ARN or alias of the key");
    let named =
        |name: &'static str, about: &'static str| Command::new(name).about(about).arg(key());
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    Command::new("keys")
        .about("Keys of the embedded key service of the server at --listen and --port")
        .subcommand_required(true)
        .subcommand(
            Command::new("create")
                .about("Make a key")
                .arg(option("account", "ID", "Account that owns it; the first one without"))
                .arg(option("id", "UUID", "Its id; drawn without"))
                .arg(option("alias", "ALIAS", "An alias for it: alias/NAME"))
                .arg(option(
                    "usage",
                    "USAGE",
                    "ENCRYPT_DECRYPT, SIGN_VERIFY or GENERATE_VERIFY_MAC",
                ))
                .arg(
                    option("share-with", "ID", "Another account that may use it; may be repeated")
                        .action(clap::ArgAction::Append),
                ),
        )
        .subcommand(Command::new("list").about("Show all keys"))
        .subcommand(
            named("alias", "Give a key an alias, also one that another key has")
                .arg(Arg::new("alias").value_name("ALIAS").required(true).help("alias/NAME")),
        )
        .subcommand(named("enable", "Let a key be used"))
        .subcommand(named("disable", "Let a key be used no more"))
        .subcommand(named("rotate", "Seal with new key material; the older opens what it sealed"))
        .subcommand(
            named("schedule-deletion", "Delete a key: what it sealed is lost then").arg(
                option("days", "N", "Days until then, 7 to 30; 30 without")
                    .value_parser(clap::value_parser!(u64)),
            ),
        )
        .subcommand(named("cancel-deletion", "Keep a key, disabled"))
}

/// Gives 0 if it was done, 1 if it was refused, 2 if there is no answer.
pub(super) fn run(matches: &ArgMatches) -> ExitCode {
    let Some((action, inner)) = matches.subcommand() else {
        return ExitCode::from(2);
    };
    let flags = Flags::from_matches(&crate::PRODUCT, inner);
    let answer = match action {
        "list" => ask(&flags, "GET", ""),
        _ => ask(&flags, "POST", &body(action, inner).to_string()),
    };
    match answer {
        Ok((200, json)) if action == "list" => {
            let keys = json.get("keys").and_then(Value::as_array).into_iter().flatten();
            shown(keys.map(line).collect())
        }
        Ok((200, json)) => shown(line(&json)),
        Ok((status, json)) => {
            let why = json.get("error").and_then(Value::as_str).filter(|why| !why.is_empty());
            let why = why.map(str::to_owned);
            eprintln!("object-put keys: {}", why.unwrap_or_else(|| format!("status {status}")));
            ExitCode::FAILURE
        }
        Err(why) => {
            eprintln!("object-put keys: {why}");
            ExitCode::from(2)
        }
    }
}

/// Prints keys.
fn shown(lines: String) -> ExitCode {
    match print(lines) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("object-put keys: the output cannot be written: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The command as the control path takes it.
fn body(action: &str, matches: &ArgMatches) -> Value {
    let mut fields = Map::new();
    fields.insert("action".to_owned(), action.into());
    for name in ["key", "account", "id", "alias", "usage"] {
        if let Ok(Some(value)) = matches.try_get_one::<String>(name) {
            fields.insert(name.to_owned(), value.as_str().into());
        }
    }
    if let Ok(Some(days)) = matches.try_get_one::<u64>("days") {
        fields.insert("days".to_owned(), (*days).into());
    }
    if let Ok(Some(accounts)) = matches.try_get_many::<String>("share-with") {
        fields.insert("sharedWith".to_owned(), json!(accounts.collect::<Vec<_>>()));
    }
    Value::Object(fields)
}

/// A key as a line: ARN, state, aliases.
fn line(key: &Value) -> String {
    let text = |name: &str| key.get(name).and_then(Value::as_str).unwrap_or_default();
    let aliases = key.get("aliases").and_then(Value::as_array).into_iter().flatten();
    let aliases: Vec<_> = aliases.filter_map(Value::as_str).collect();
    let state = match text("deletesAt") {
        "" => text("state").to_owned(),
        until => format!("deleted at {until}"),
    };
    let words = [text("arn").to_owned(), state, aliases.join(" ")];
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join("  ") + "\n"
}

/// Asks the server; gives status and JSON of its answer.
fn ask(flags: &Flags, method: &str, body: &str) -> Result<(u16, Value), String> {
    let ip = match flags.listen.is_unspecified() {
        true => IpAddr::V4(Ipv4Addr::LOCALHOST),
        false => flags.listen,
    };
    let address = SocketAddr::new(ip, flags.port);
    let exchange = || -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect_timeout(&address, WAIT)?;
        stream.set_read_timeout(Some(WAIT))?;
        stream.set_write_timeout(Some(WAIT))?;
        let token = flags.admin_token.as_ref();
        let token =
            token.map_or_else(String::new, |own| format!("Authorization: Bearer {own}\r\n"));
        let length = body.len();
        let request = format!(
            "{method} /_ops/keys HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{token}Content-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
        Ok(answer)
    };
    let answer = exchange().map_err(|error| format!("no answer from {address}: {error}"))?;
    let odd = || format!("{address} does not answer as this service: does it speak https?");
    let text = String::from_utf8(answer).map_err(|_| odd())?;
    let (head, json) = text.split_once("\r\n\r\n").ok_or_else(odd)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(odd)?;
    // Refusals are documents of their own.
    let refusal = || Element::parse(json.as_bytes(), "Error").ok();
    let reason = || refusal().and_then(|own| own.text_of("Message").map(str::to_owned));
    let read = serde_json::from_str(json);
    Ok((status, read.unwrap_or_else(|_| json!({ "error": reason().unwrap_or_default() }))))
}
