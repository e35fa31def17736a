//! Requests to the running server of the same flags, without any other program: so they work in an empty container.

use std::io::{Error, ErrorKind, Read, Write};
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

/// Sends a request, over TLS where the flags have the server speak that, and gives the whole answer.
fn ask(
    flags: &Flags,
    address: SocketAddr,
    request: &str,
    wait: Option<Duration>,
) -> std::io::Result<String> {
    let stream = TcpStream::connect_timeout(&address, WAIT)?;
    stream.set_read_timeout(wait)?;
    stream.set_write_timeout(Some(WAIT))?;
    #[cfg(feature = "tls")]
    if let Some(stream) = super::tls_to_self::connect(flags, address.ip(), &stream)? {
        return exchange(stream, request);
    }
    #[cfg(not(feature = "tls"))]
    let _ = flags;
    exchange(&stream, request)
}

fn exchange(mut stream: impl Read + Write, request: &str) -> std::io::Result<String> {
    let mut answer = Vec::new();
    let read = stream
        .write_all(request.as_bytes())
        .and_then(|()| stream.flush())
        .and_then(|()| stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer));
    match read {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            let late = format!("it did not answer within {} s", WAIT.as_secs());
            Err(Error::new(ErrorKind::TimedOut, late))
        }
        // A connection over TLS may end without a word.
        Err(error) if error.kind() != ErrorKind::UnexpectedEof || answer.is_empty() => Err(error),
        _ => Ok(String::from_utf8_lossy(&answer).into_owned()),
    }
}

/// Asks whether the server is ready.
pub(super) fn run(flags: &Flags) -> ExitCode {
    let address = address(flags);
    let request = "GET /_ops/health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    match ask(flags, address, request, Some(WAIT)) {
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
    let to = to.to_str().ok_or_else(|| {
        let to = to.display();
        format!("the service that serves {shown} is told paths in UTF-8, and {to} is none")
    })?;
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
    let reached = |error: Error| {
        format!(
            "the data is in use, and no service answers at {address}: {error}. Name its --listen and --port"
        )
    };
    let answer = ask(flags, address, &request, None).map_err(reached)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    if head.starts_with("HTTP/1.1 200 ") { Ok(body.to_owned()) } else { Err(body.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_accepts_and_is_silent_is_said_to_be_late() {
        /// A stream whose reads time out as those of a socket do.
        struct Silent;

        impl Read for Silent {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(ErrorKind::WouldBlock.into())
            }
        }

        impl Write for Silent {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                Ok(bytes.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }

        let late = exchange(Silent, "request").unwrap_err();
        assert_eq!(late.to_string(), "it did not answer within 5 s");
    }
}
