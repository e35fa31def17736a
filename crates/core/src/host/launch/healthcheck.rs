//! Requests to the running server of the same flags, without any other program: so they work in an empty container.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
#[cfg(feature = "sled")]
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use super::flags::Flags;
#[cfg(feature = "sled")]
use super::identity_file;
#[cfg(feature = "sled")]
use crate::host::backup::SERVES_OTHER_DATA;

/// Time for an answer to a health check.
const WAIT: Duration = Duration::from_secs(5);
/// Longest answer that is read.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;

/// The address at which this machine reaches the server.
fn address(flags: &Flags) -> SocketAddr {
    let is_any = flags.listen.is_unspecified();
    let ip = if is_any { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { flags.listen };
    SocketAddr::new(ip, flags.port)
}

fn ask(address: SocketAddr, request: &str, wait: Option<Duration>) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, WAIT)?;
    stream.set_read_timeout(wait)?;
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Asks whether the server is ready.
pub(super) fn run(flags: &Flags) -> ExitCode {
    let address = address(flags);
    let request = "GET /_ops/health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    match ask(address, request, Some(WAIT)) {
        Ok(answer) if answer.starts_with("HTTP/1.1 200 ") => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "no answer from {address}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Has the service that serves a data directory take a backup of it, and gives its answer. A service that serves another takes none.
///
/// # Errors
/// A sentence: no service answers, it serves another directory, or it cannot take the backup.
#[cfg(feature = "sled")]
pub(super) fn backup(flags: &Flags, data: &Path, to: &Path) -> Result<String, String> {
    let shown = data.display();
    let store = identity_file::of_records(data).ok().flatten().ok_or_else(|| {
        format!("{shown} is in use, and its file kv/identity, by which its service is known, cannot be read")
    })?;
    let address = address(flags);
    let answer = post(flags, "/_ops/backup", &serde_json::json!({ "to": to, "store": store }));
    match answer {
        Err(refused) if refused.contains(SERVES_OTHER_DATA) => Err(format!(
            "the service at {address} serves another data directory than {shown}, and nothing was copied: name the --listen and --port of the one that serves {shown}"
        )),
        Ok(taken)
            if serde_json::from_str::<serde_json::Value>(&taken)
                .is_ok_and(|taken| taken.get("path").is_some()) =>
        {
            Ok(taken)
        }
        Ok(_) => Err(format!(
            "whatever answers at {address} is no service of this data: name the --listen and --port of the one that serves {shown}"
        )),
        refused => refused,
    }
}

/// Posts to a control path, and gives the body of the answer: an error, unless it is one of success.
#[cfg(feature = "sled")]
fn post(flags: &Flags, path: &str, body: &serde_json::Value) -> Result<String, String> {
    let (address, body) = (address(flags), body.to_string());
    let token = flags.admin_token.as_ref();
    let authorization =
        token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    let reached = |error: std::io::Error| {
        format!(
            "the data is in use, and no service answers at {address}: {error}. Name its --listen and --port"
        )
    };
    let answer = ask(address, &request, None).map_err(reached)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    if head.starts_with("HTTP/1.1 200 ") { Ok(body.to_owned()) } else { Err(body.to_owned()) }
}
