//! The URL of a database, and what of it may be shown.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// Time for one address to answer.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// Time after which a silent connection is asked for a sign of life.
const KEEPALIVE_AFTER: Duration = Duration::from_secs(10);
/// Time for which what was sent may stay unacknowledged.
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(15);
/// The parameters that this engine reads itself.
const AUTHORITIES: &str = "sslrootcert";
const MODE: &str = "sslmode";
/// The value of [`AUTHORITIES`] that means those of the system, as libpq has it.
const OF_SYSTEM: &str = "system";

/// `postgres://user:password@host:port/database`, with several hosts and the parameters of libpq that `tokio-postgres` knows, beside
/// `sslrootcert`. It is shown without its password and its parameters.
#[derive(Clone)]
pub struct PostgresUrl {
    pub(super) config: Config,
    /// The file of the authorities that the server's certificate is trusted by.
    #[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "only TLS trusts authorities"))]
    pub(super) authorities: Option<PathBuf>,
}

/// Reasons for which a text is no URL of a database. None shows the text, which may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PostgresUrlError {
    /// The scheme is another.
    #[error("the store is a URL that begins with postgres:// or postgresql://")]
    Scheme,
    /// The rest is not what this scheme has.
    #[error("the URL of the store cannot be read: {0}")]
    Syntax(String),
    /// No server is named.
    #[error("the URL of the store names no host: postgres://user@host/database")]
    NoHost,
    /// `sslmode=prefer` or `allow`, which anybody on the way can turn into none.
    #[error(
        "sslmode=prefer and allow protect from nobody: name verify-full, whose certificate is checked, or disable"
    )]
    Prefer,
    /// `sslmode` with a value that is none.
    #[error(
        "the URL of the store has sslmode=verify-full, verify-ca or require, all of which check the certificate and the name in it, or sslmode=disable"
    )]
    Mode,
    /// A certificate of the client, or what else there is of TLS in URLs of libpq, which nobody would heed.
    #[error(
        "the URL of the store has {0}, which is not known here: of TLS there are sslmode and sslrootcert"
    )]
    NotOfTls(String),
    /// The server is reached by TLS, which is not built in.
    #[error(
        "the store is on another machine and this build has no TLS: build with the feature tls, or say sslmode=disable in the URL to go in the clear"
    )]
    NoTls,
}

impl PostgresUrl {
    /// Returns whether connections are encrypted, with a certificate that is checked.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.config.get_ssl_mode() != SslMode::Disable
    }
}

impl FromStr for PostgresUrl {
    type Err = PostgresUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if !["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
            return Err(PostgresUrlError::Scheme);
        }
        let (text, own) = without_own(text)?;
        let mut config: Config =
            text.parse().map_err(|error| PostgresUrlError::Syntax(said(&error)))?;
        if config.get_hosts().is_empty() {
            return Err(PostgresUrlError::NoHost);
        }
        let is_plain = config.get_hosts().iter().all(is_here);
        config.ssl_mode(own.mode.unwrap_or(match is_plain {
            true => SslMode::Disable,
            false => SslMode::Require,
        }));
        if config.get_ssl_mode() != SslMode::Disable && !cfg!(feature = "tls") {
            return Err(PostgresUrlError::NoTls);
        }
        config
            .connect_timeout(CONNECT_MAX)
            .keepalives_idle(KEEPALIVE_AFTER)
            .tcp_user_timeout(UNACKNOWLEDGED_MAX);
        Ok(Self { config, authorities: own.authorities })
    }
}

/// The cause that the parser names: it speaks of names of parameters, not of values.
fn said(error: &tokio_postgres::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// The parameters that are read here.
#[derive(Debug, Default)]
struct OwnParameters {
    mode: Option<SslMode>,
    authorities: Option<PathBuf>,
}

/// The URL without the parameters that are read here, and these. The driver knows fewer of them than those who write URLs.
fn without_own(text: &str) -> Result<(String, OwnParameters), PostgresUrlError> {
    let Some((address, query)) = text.split_once('?') else {
        return Ok((text.to_owned(), OwnParameters::default()));
    };
    let (mut own, mut others) = (OwnParameters::default(), Vec::new());
    for parameter in query.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = percent_decode_str(value).decode_utf8();
        let value = value.map_err(|error| PostgresUrlError::Syntax(error.to_string()))?;
        match name {
            MODE => own.mode = Some(mode(&value)?),
            AUTHORITIES => {
                own.authorities =
                    Some(&*value).filter(|path| *path != OF_SYSTEM).map(PathBuf::from);
            }
            // With this one a server is asked for TLS at once, which is another protocol.
            "sslnegotiation" => others.push(parameter),
            name if name.starts_with("ssl") => {
                return Err(PostgresUrlError::NotOfTls(name.to_owned()));
            }
            _ => others.push(parameter),
        }
    }
    Ok((format!("{address}?{}", others.join("&")), own))
}

/// The mode of that name. All that encrypt check the certificate and the name in it, also those that need not elsewhere.
fn mode(value: &str) -> Result<SslMode, PostgresUrlError> {
    match value {
        "verify-full" | "verify-ca" | "require" => Ok(SslMode::Require),
        "disable" => Ok(SslMode::Disable),
        "prefer" | "allow" => Err(PostgresUrlError::Prefer),
        _ => Err(PostgresUrlError::Mode),
    }
}

/// Tells whether a server is on this machine, so that nobody listens on the way.
fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{user}@")?;
        }
        let ports = self.config.get_ports();
        for (at, host) in self.config.get_hosts().iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match host {
                Host::Tcp(name) => write!(f, "{comma}{name}")?,
                #[cfg(unix)]
                Host::Unix(path) => write!(f, "{comma}{}", path.display())?,
            }
            if let Some(port) = ports.get(at).or_else(|| ports.first()) {
                write!(f, ":{port}")?;
            }
        }
        match self.config.get_dbname() {
            Some(database) => write!(f, "/{database}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}
