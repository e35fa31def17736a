//! The way to a server: in the clear on this machine, or over TLS with a certificate that is checked.

use etcd_client::ConnectOptions;

use super::url::EtcdUrl;

/// The address of a server with its scheme, and the settings that it is reached with.
///
/// # Errors
/// A sentence about the file of authorities that cannot be used.
#[cfg(feature = "tls")]
pub(super) fn secured(
    url: &EtcdUrl,
    server: &str,
    options: ConnectOptions,
) -> Result<(String, ConnectOptions), String> {
    if !url.is_encrypted() {
        return Ok((format!("http://{server}"), options));
    }
    let named = url.authorities.as_deref();
    // A file without a certificate trusts nobody, and would be told of as a fault of the server.
    crate::trust::client_config(named)?;
    let file = crate::trust::file(named)?;
    let authorities =
        std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let certificate = etcd_client::Certificate::from_pem(authorities);
    let tls = etcd_client::TlsOptions::new().ca_certificate(certificate);
    Ok((format!("https://{server}"), options.with_tls(tls)))
}

/// The address of a server with its scheme: this build has no TLS, and no URL that asks for it.
///
/// # Errors
/// None.
#[cfg(not(feature = "tls"))]
pub(super) fn secured(
    _url: &EtcdUrl,
    server: &str,
    options: ConnectOptions,
) -> Result<(String, ConnectOptions), String> {
    Ok((format!("http://{server}"), options))
}
