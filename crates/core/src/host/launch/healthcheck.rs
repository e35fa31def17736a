//! Requests to the running server of the same flags, without any other program: so they work in an empty container.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

use super::flags::Flags;

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

/// Posts to a control path, and gives the body of the answer: an error, unless it is one of success.
#[cfg(feature = "sled")]
pub(super) fn post(flags: &Flags, path: &str, body: &serde_json::Value) -> Result<String, String> {
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
