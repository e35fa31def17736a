//! The URL of a cluster, and what of it may be shown.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use percent_encoding::percent_decode_str;

/// The scheme of these URLs.
const SCHEME: &str = "etcd://";
/// The port of a server where none is named.
const PORT: u16 = 2379;

/// `etcd://user:password@host:port,host2:port2`, with the parameters `sslmode` and `sslrootcert` of databases. It is shown without its
/// password and its parameters.
#[derive(Clone)]
pub struct EtcdUrl {
    /// Host and port of each server.
    pub(super) servers: Vec<String>,
    pub(super) user: Option<(String, String)>,
    is_encrypted: bool,
    /// The file of the authorities that the servers' certificates are trusted by.
    #[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "only TLS trusts authorities"))]
    pub(super) authorities: Option<PathBuf>,
}

/// Reasons for which a text is no URL of a cluster. None shows the text, which may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EtcdUrlError {
    /// The scheme is another.
    #[error("the store is a URL that begins with etcd://")]
    Scheme,
    /// The name and the password are not of the form that a URL has.
    #[error("the URL of the store names a user without a password: etcd://user:password@host")]
    User,
    /// A server is not named by host and port.
    #[error(
        "the URL of the store names no server, or one that is no host:port: etcd://host:port,host:port"
    )]
    Server,
    /// A parameter is unknown, or has a value that it cannot have.
    #[error(
        "the URL of the store takes sslmode=require, sslmode=disable and sslrootcert=FILE after its ?"
    )]
    Parameter,
    /// A server is reached by TLS, which is not built in.
    #[error(
        "the store is on another machine and this build has no TLS: build with the feature tls, or say sslmode=disable in the URL to go in the clear"
    )]
    NoTls,
}

impl EtcdUrl {
    /// Returns whether connections are encrypted, with a certificate that is checked.
    #[must_use]
    pub const fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }
}

impl FromStr for EtcdUrl {
    type Err = EtcdUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rest = text.strip_prefix(SCHEME).ok_or(EtcdUrlError::Scheme)?;
        let (address, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let address = address.strip_suffix('/').unwrap_or(address);
        let (user, servers) = match address.rsplit_once('@') {
            None => (None, address),
            Some((user, servers)) => {
                let (name, password) = user.split_once(':').ok_or(EtcdUrlError::User)?;
                (Some((decoded(name)?, decoded(password)?)), servers)
            }
        };
        let servers = servers.split(',').map(server).collect::<Result<Vec<_>, _>>()?;
        let mut is_encrypted = !servers.iter().all(|server| is_here(server));
        let mut authorities = None;
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("sslmode", "require")) => is_encrypted = true,
                Some(("sslmode", "disable")) => is_encrypted = false,
                Some(("sslrootcert", path)) => {
                    authorities =
                        Some(PathBuf::from(decoded(path).map_err(|_| EtcdUrlError::Parameter)?))
                }
                _ => return Err(EtcdUrlError::Parameter),
            }
        }
        if is_encrypted && !cfg!(feature = "tls") {
            return Err(EtcdUrlError::NoTls);
        }
        Ok(Self { servers, user, is_encrypted, authorities })
    }
}

/// A name or a password as it is meant.
fn decoded(text: &str) -> Result<String, EtcdUrlError> {
    let text = percent_decode_str(text).decode_utf8();
    text.map(std::borrow::Cow::into_owned).map_err(|_| EtcdUrlError::User)
}

/// A server with its port.
fn server(text: &str) -> Result<String, EtcdUrlError> {
    let is_address = text.starts_with('[') && text.ends_with(']');
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !is_address => {
            (host, port.parse::<u16>().map_err(|_| EtcdUrlError::Server)?)
        }
        _ => (text, PORT),
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let is_host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(is_name),
    };
    if is_host { Ok(format!("{host}:{port}")) } else { Err(EtcdUrlError::Server) }
}

/// Tells whether a server is on this machine, so that nobody listens on the way.
fn is_here(server: &str) -> bool {
    let host = server.rsplit_once(':').map_or(server, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

impl fmt::Display for EtcdUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SCHEME)?;
        if let Some((name, _)) = &self.user {
            write!(f, "{name}@")?;
        }
        f.write_str(&self.servers.join(","))
    }
}

impl fmt::Debug for EtcdUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}
